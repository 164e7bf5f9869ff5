// IDX files, the form in which MNIST is published: a magic number {0, 0, type, axes}, one big-endian 32-bit
// size per axis, then the values; plain, or packed with gzip. A file is checked fully before anybody sees a
// byte of it, and what its header claims is compared with what the file can hold before memory is asked for.
// Format: http://yann.lecun.com/exdb/mnist/, "The IDX file format".
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "engine/shape.h"

namespace warpline {

struct IdxArray {
  Shape shape;
  std::vector<std::uint8_t> values;  // row-major, exactly what `shape` holds
};

inline constexpr std::int64_t kAnySize = -1;

// Unsigned bytes with as many axes as `expected` has sizes; kAnySize leaves that axis to the file. Gzip is
// told by the file's first bytes, not by its name. Throws FileError that names the file, the rule and the
// values: not a regular file, magic number, sizes, too few or too many bytes, a damaged or cut gzip stream.
IdxArray read_idx(const std::filesystem::path& file, const Shape& expected);

}  // namespace warpline
