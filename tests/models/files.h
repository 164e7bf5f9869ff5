// Small IDX files and MNIST sets for tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <zlib.h>

#include "engine/shape.h"
#include "kernels/error.h"
#include "tests/support/temporary_folder.h"

namespace warpline::test {

using Bytes = std::vector<std::uint8_t>;

inline void write_file(const std::filesystem::path& file, const Bytes& bytes) {
  std::ofstream stream(file, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!stream.flush()) throw Failure(file.string() + " could not be written");
}

inline Bytes read_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline Bytes gzip(const Bytes& bytes) {
  z_stream stream{};
  deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  Bytes packed(deflateBound(&stream, bytes.size()));
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// Header of unsigned bytes, then the values: nothing checks that they agree.
inline Bytes idx_bytes(const Shape& shape, const Bytes& values) {
  Bytes bytes = {0, 0, 8, static_cast<std::uint8_t>(shape.size())};
  for (const std::int64_t size : shape) {
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<std::uint8_t>(size >> shift));
  }
  bytes.insert(bytes.end(), values.begin(), values.end());
  return bytes;
}

// Four plain files: label i is i % 10, every byte of image i is i + `first`.
inline void write_mnist(const std::filesystem::path& folder, std::int64_t train, std::int64_t test) {
  const auto write = [&](const std::string& name, std::int64_t count, int first) {
    Bytes images, labels;
    for (std::int64_t i = 0; i < count; ++i) {
      labels.push_back(static_cast<std::uint8_t>(i % 10));
      images.insert(images.end(), 28 * 28, static_cast<std::uint8_t>(i + first));
    }
    write_file(folder / (name + "-images-idx3-ubyte"), idx_bytes({count, 28, 28}, images));
    write_file(folder / (name + "-labels-idx1-ubyte"), idx_bytes({count}, labels));
  };
  write("train", train, 0);
  write("t10k", test, 100);
}

// What the call throws, "" where it returns; only FileError and ValueError may come.
template <class F>
std::string refusal(F&& call) {
  try {
    call();
  } catch (const FileError& error) {
    return error.what();
  } catch (const ValueError& error) {
    return error.what();
  }
  return "";
}

}  // namespace warpline::test
