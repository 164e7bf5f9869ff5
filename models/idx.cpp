#include "models/idx.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <system_error>

#include <zlib.h>

#include "kernels/error.h"

namespace warpline {
namespace {

constexpr std::uint8_t kUnsignedByte = 0x08;
constexpr std::size_t kPiece = std::size_t{1} << 20;
// Deflate codes at most 258 bytes in 2 bits, about 1032 to 1: https://zlib.net/zlib_tech.html
constexpr std::int64_t kMostPacked = 1032;

// The bytes of the array, whatever the file is packed in.
class Source {
 public:
  virtual ~Source() = default;
  // Fills `bytes` as far as there are any, and returns how many: fewer only at the end.
  virtual std::size_t read(std::span<std::uint8_t> bytes) = 0;
  // Can that many bytes be in this file at all? Looks at the file's size only.
  virtual bool may_hold(std::int64_t bytes) const = 0;
};

class Plain final : public Source {
 public:
  Plain(std::ifstream file, std::int64_t size) : file_(std::move(file)), size_(size) {}

  std::size_t read(std::span<std::uint8_t> bytes) override {
    file_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return static_cast<std::size_t>(file_.gcount());
  }
  bool may_hold(std::int64_t bytes) const override { return bytes <= size_; }

 private:
  std::ifstream file_;
  std::int64_t size_;
};

// zlib checks the checksum and the length at the end of the stream; gzread would pass over bytes behind it.
class Gzip final : public Source {
 public:
  Gzip(std::string name, std::ifstream file, std::int64_t size)
      : name_(std::move(name)), packed_(std::move(file), size), size_(size), input_(kPiece) {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) {
      fail<Failure>("idx", "zlib {} did not start: {}", zlibVersion(),
                    stream_.msg != nullptr ? stream_.msg : "");
    }
  }
  ~Gzip() override { inflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  std::size_t read(std::span<std::uint8_t> bytes) override {
    std::size_t filled = 0;
    while (filled < bytes.size() && !ended_) {
      if (stream_.avail_in == 0) refill();
      stream_.next_out = bytes.data() + filled;
      stream_.avail_out = static_cast<uInt>(std::min(bytes.size() - filled, kPiece));
      const uInt room = stream_.avail_out;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      filled += room - stream_.avail_out;
      if (status == Z_STREAM_END) {
        end();
      } else if (status != Z_OK) {
        fail<FileError>("idx", "{}: the gzip stream is damaged: {}; get the file again", name_,
                        stream_.msg != nullptr ? stream_.msg : zError(status));
      }
    }
    return filled;
  }
  bool may_hold(std::int64_t bytes) const override { return bytes / kMostPacked <= size_; }

 private:
  void refill() {
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(packed_.read(input_));
    if (stream_.avail_in == 0) {
      fail<FileError>(
          "idx", "{}: the gzip stream ends before its end mark, after {} packed bytes; get the file again",
          name_, size_);
    }
  }
  void end() {
    ended_ = true;
    std::uint8_t next = 0;
    if (stream_.avail_in != 0 || packed_.read({&next, 1}) != 0) {
      fail<FileError>("idx", "{}: there are bytes behind the end of the gzip stream; get the file again",
                      name_);
    }
  }

  std::string name_;
  Plain packed_;
  std::int64_t size_;
  std::vector<std::uint8_t> input_;
  z_stream stream_{};
  bool ended_ = false;
};

std::unique_ptr<Source> open(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    fail<FileError>("idx", "{}: {}", path.string(),
                    std::filesystem::exists(path, error) ? "not a regular file" : "there is no such file");
  }
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path, error));
  std::ifstream file(path, std::ios::binary);
  if (error || !file) fail<FileError>("idx", "{}: cannot be opened for reading", path.string());
  const int first = file.get();
  const int second = file.get();
  file.clear();
  file.seekg(0);
  if (first == 0x1f && second == 0x8b) return std::make_unique<Gzip>(path.string(), std::move(file), size);
  return std::make_unique<Plain>(std::move(file), size);
}

// Reads and checks magic number and sizes; on return `source` stands at the first value.
Shape read_header(Source& source, const std::string& name, const Shape& expected) {
  const auto axes = static_cast<std::uint8_t>(expected.size());
  std::vector<std::uint8_t> header(4 + 4 * expected.size());
  const std::size_t got = source.read(header);
  if (got >= 4 && (header[0] != 0 || header[1] != 0 || header[2] != kUnsignedByte || header[3] != axes)) {
    fail<FileError>(
        "idx",
        "{}: the magic number of unsigned bytes with {} axes is 00 00 08 {:02x}: {:02x} {:02x} {:02x} "
        "{:02x}; is it another file?",
        name, axes, axes, header[0], header[1], header[2], header[3]);
  }
  if (got < header.size()) {
    fail<FileError>("idx", "{}: a header with {} axes has {} bytes: the file holds {}; get the file again",
                    name, axes, header.size(), got);
  }
  Shape shape;
  for (std::size_t axis = 0; axis < expected.size(); ++axis) {
    const std::uint8_t* b = &header[4 + 4 * axis];
    shape.push_back((std::int64_t{b[0]} << 24) | (b[1] << 16) | (b[2] << 8) | b[3]);
    if (expected[axis] != kAnySize && shape[axis] != expected[axis]) {
      fail<FileError>("idx", "{}: axis {} must have size {}: the header says {}; is it another file?", name,
                      axis, expected[axis], shape[axis]);
    }
  }
  return shape;
}

}  // namespace

IdxArray read_idx(const std::filesystem::path& file, const Shape& expected) {
  const std::string name = file.string();
  const std::unique_ptr<Source> source = open(file);
  IdxArray array;
  array.shape = read_header(*source, name, expected);
  std::int64_t count = 0;
  try {
    count = element_count(array.shape);
  } catch (const ShapeError&) {
    fail<FileError>("idx", "{}: no file holds {} bytes, which its header claims; get the file again", name,
                    to_string(array.shape));
  }
  if (!source->may_hold(count)) {
    fail<FileError>("idx",
                    "{}: the header claims {} = {} bytes, more than the file can hold; get the file again",
                    name, to_string(array.shape), count);
  }
  // Grows with what arrives, so that a header which lies about a packed file costs no memory.
  const auto wanted = static_cast<std::size_t>(count);
  while (array.values.size() < wanted) {
    const std::size_t before = array.values.size();
    array.values.resize(std::min(before + kPiece, wanted));
    const std::size_t got = source->read(std::span(array.values).subspan(before));
    if (before + got < array.values.size()) {
      fail<FileError>("idx", "{}: the header claims {} = {} bytes: there are {}; get the file again", name,
                      to_string(array.shape), count, before + got);
    }
  }
  std::uint8_t behind = 0;
  if (source->read({&behind, 1}) != 0) {
    fail<FileError>("idx", "{}: the header claims {} = {} bytes: there are more; get the file again", name,
                    to_string(array.shape), count);
  }
  return array;
}

}  // namespace warpline
