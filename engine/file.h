// Files that are replaced whole or not at all: whoever reads one sees the old contents or the new ones, never
// a part, also when the program dies while it writes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpline {

// Throws FileError, naming path and reason, unless a file can be put there. Changes nothing: what would fail
// after an hour's work is found before it. Returns the absolute path of the file that would be replaced,
// behind all links; empty for a device or pipe, which is replaced by nothing.
std::string check_writable(const std::string& path);

// Writes the parts one after the other into a temporary file in the same folder, syncs it, and renames it to
// `path`, following a symbolic link there. A device or pipe (/dev/stdout) is written directly. FileError
// where no file can be put; Failure where writing fails later (disk full); the old file is then unchanged.
void write_file_whole(const std::string& path, std::span<const std::span<const std::byte>> parts);
void write_file_whole(const std::string& path, std::string_view text);

// The bytes of a regular file of at most `max_bytes`. FileError otherwise.
std::vector<std::byte> read_file_whole(const std::string& path, std::size_t max_bytes);

}  // namespace warpline
