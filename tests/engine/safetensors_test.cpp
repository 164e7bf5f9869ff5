// Tensor files: what is written is read back, and a file that lies is refused with its name and the problem.
#include "engine/safetensors.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "engine/file.h"
#include "kernels/error.h"
#include "tests/support/temporary_folder.h"

using namespace warpline;
using Catch::Matchers::Contains;

namespace {

template <class T>
HostTensor host_tensor(std::string name, std::vector<T> values, Shape shape) {
  HostTensor tensor{std::move(name), dtype_of<T>, std::move(shape), {}};
  const auto bytes = std::as_bytes(std::span<const T>(values));
  tensor.bytes.assign(bytes.begin(), bytes.end());
  return tensor;
}

const HostTensor& find(const SafetensorsFile& file, const std::string& name) {
  const auto found = std::ranges::find(file.tensors, name, &HostTensor::name);
  REQUIRE(found != file.tensors.end());
  return *found;
}

std::string length_prefix(std::uint64_t length) {
  std::string text(8, '\0');
  std::memcpy(text.data(), &length, 8);
  return text;
}

// The message with which reading header + data is refused.
std::string refusal(const std::string& header, std::size_t data_bytes) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "lying.safetensors";
  write_file_whole(path, length_prefix(header.size()) + header + std::string(data_bytes, '\1'));
  try {
    read_safetensors(path);
  } catch (const FileError& error) {
    CHECK_THAT(error.what(), Contains(path));
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("tensors of every dtype are read back as written", "[safetensors]") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "all.safetensors";
  SafetensorsFile file;
  file.metadata = {{"format", "warpline"}, {"note", "\"quotes\", ümlaut\n"}};
  file.tensors = {host_tensor<std::uint8_t>("bytes", {1, 2, 255}, {3}),
                  host_tensor<float>("conv1.weight", {1.5F, -0.0F, 3e38F, 1e-45F, 5, 6}, {2, 3}),
                  host_tensor<double>("scalar", {0.1}, {}),
                  host_tensor<std::int64_t>("labels", {INT64_MIN, INT64_MAX}, {2, 1}),
                  host_tensor<std::int32_t>("ints", {-7}, {1}),
                  host_tensor<std::uint32_t>("words", {4'000'000'000U}, {1}),
                  host_tensor<float>("empty", {}, {0, 5}),
                  host_tensor<float>("also empty", {}, {3, 0})};
  write_safetensors(path, file);
  const SafetensorsFile read = read_safetensors(path);
  CHECK(read.metadata == file.metadata);
  REQUIRE(read.tensors.size() == file.tensors.size());
  for (const HostTensor& tensor : file.tensors) {
    const HostTensor& other = find(read, tensor.name);
    CHECK(other.dtype == tensor.dtype);
    CHECK(other.shape == tensor.shape);
    CHECK(other.bytes == tensor.bytes);
  }
  // The data of each tensor lies aligned to its element type.
  const auto bytes = read_file_whole(path, 1 << 20);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  CHECK(length % 8 == 0);
  std::size_t offset = 8 + length;
  for (const HostTensor& tensor : read.tensors) {
    CHECK(offset % size_of(tensor.dtype) == 0);
    offset += tensor.bytes.size();
  }
  CHECK(offset == bytes.size());
}

TEST_CASE("a file of nothing is a file", "[safetensors]") {
  const test::TemporaryFolder folder;
  write_safetensors(folder / "none", {});
  CHECK(read_safetensors(folder / "none").tensors.empty());
}

TEST_CASE("tensors go to files and back", "[safetensors]") {
  Context context;
  const Tensor x = Tensor::from_host(context, std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2});
  const HostTensor host = to_host_tensor("x", Tensor::view_of(x, 2, {2, 2}));
  const Tensor back = to_tensor(context, host);
  CHECK(back.shape() == Shape{2, 2});
  CHECK(back.to_host<float>() == std::vector<float>{3, 4, 5, 6});
}

TEST_CASE("a header of another library is read: any key order, spaces behind it", "[safetensors]") {
  const test::TemporaryFolder folder;
  const std::string header =
      R"({"b":{"shape":[2],"data_offsets":[8,10],"dtype":"U8"},"a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}   )";
  write_file_whole(folder / "t", length_prefix(header.size()) + header + std::string(10, '\0'));
  const SafetensorsFile file = read_safetensors(folder / "t");
  REQUIRE(file.tensors.size() == 2);
  CHECK(file.tensors[0].name == "a");
  CHECK(file.tensors[1].shape == Shape{2});
}

TEST_CASE("a lying file is refused", "[safetensors]") {
  const auto one = [](const char* dtype, const char* shape, const char* offsets) {
    return fmt::format(R"({{"w":{{"dtype":"{}","shape":{},"data_offsets":{}}}}})", dtype, shape, offsets);
  };
  REQUIRE(refusal(one("F32", "[2]", "[0,8]"), 8) == "accepted");
  struct Lie {
    std::string header;
    std::size_t data_bytes;
    const char* problem;
  };
  const std::vector<Lie> lies = {
      {one("F32", "[2]", "[0,8]"), 7, "cut short"},
      {one("F32", "[2]", "[0,8]"), 9, "1 bytes lie behind"},
      {one("F32", "[3]", "[0,8]"), 8, "does not fill"},
      {one("F64", "[2]", "[0,8]"), 8, "does not fill"},
      {one("F32", "[2]", "[8,0]"), 8, "[begin, end]"},
      {one("F32", "[2]", "[0]"), 8, "[begin, end]"},
      {one("F32", "[2]", "[0,8,16]"), 16, "[begin, end]"},
      {one("F32", "[2]", "[-8,0]"), 8, "from 0 on"},
      {one("F32", "[-2]", "[0,8]"), 8, "from 0 on"},
      {one("F32", "[2.0]", "[0,8]"), 8, "from 0 on"},
      {one("F32", "[\"2\"]", "[0,8]"), 8, "from 0 on"},
      {one("F32", "[18446744073709551615]", "[0,8]"), 8, "from 0 on"},
      {one("F32", "[99999999999999999999999]", "[0,8]"), 8, "from 0 on"},
      {one("F32", "[4611686018427387904,4]", "[0,0]"), 0, "does not fill"},
      {one("F32", "[4611686018427387904]", "[0,0]"), 0, "does not fill"},  // bytes overflow to 0
      {one("F32", "2", "[0,8]"), 8, "no list 'shape'"},
      {one("F32", "[2]", "8"), 8, "no list 'data_offsets'"},
      {one("F32", "[2]", "[4,12]"), 12, "leaves a gap"},
      {one("F31", "[2]", "[0,8]"), 8, "F31"},
      {one("BF16", "[4]", "[0,8]"), 8, "F32, F64, I64, I32, U8, U32"},
      {R"({"w":{"shape":[2],"data_offsets":[0,8]}})", 8, "no dtype"},
      {R"({"w":{"dtype":7,"shape":[2],"data_offsets":[0,8]}})", 8, "no dtype"},
      {R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"extra":1}})", 8, "'extra'"},
      {R"({"w":[]})", 8, "must be an object"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
       6, "overlaps"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
       4, "overlaps"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
       3, "leaves a gap"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
       2, "'a' is there twice"},
      {R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1, "'dtype' is there twice"},
      {R"({"__metadata__":{"step":7}})", 0, "'step' must be text"},
      {R"({"__metadata__":[]})", 0, "must be an object"},
      {R"({"w":)", 0, "not JSON"},
      {"{\"\xff\":{}}", 0, "not JSON"},
      {R"({} x)", 0, "not JSON"},
      {R"( {})", 0, "must start with"},
      {R"([])", 0, "must start with"},
      {"", 0, "must start with"},
      {"{" + std::string(200'000, '['), 0, "not JSON"},
      {"{\"w\":" + std::string(200'000, '['), 0, "not JSON"},
  };
  int refused = 0;
  for (const Lie& lie : lies) {
    INFO(lie.header.substr(0, 200));
    CHECK_THAT(refusal(lie.header, lie.data_bytes), Contains(lie.problem));
    ++refused;
  }
  fmt::print("safetensors: {} of {} lying files tried\n", refused, lies.size());
}

TEST_CASE("a file shorter than its header claims is refused", "[safetensors]") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "short";
  for (const std::string& bytes :
       {std::string(), std::string("1234567"), length_prefix(1), length_prefix(UINT64_MAX),
        length_prefix(1ULL << 40) + "{}", length_prefix(100'000'001) + "{}", length_prefix(3) + "{}"}) {
    write_file_whole(path, bytes);
    CHECK_THROWS_AS(read_safetensors(path), FileError);
    CHECK_THROWS_WITH(read_safetensors(path), Contains(path));
  }
  CHECK_THROWS_AS(read_safetensors(folder / "missing"), FileError);
}

TEST_CASE("every truncation of a good file is refused", "[safetensors]") {
  const test::TemporaryFolder folder;
  SafetensorsFile file;
  file.tensors = {host_tensor<float>("w", {1, 2, 3}, {3}), host_tensor<std::uint8_t>("b", {1, 2, 3}, {3})};
  write_safetensors(folder / "good", file);
  const auto good = read_file_whole(folder / "good", 1 << 20);
  int refused = 0;
  for (std::size_t length = 0; length < good.size(); ++length) {
    const std::vector<std::span<const std::byte>> part = {std::span(good).first(length)};
    write_file_whole(folder / "cut", part);
    try {
      read_safetensors(folder / "cut");
    } catch (const FileError&) {
      ++refused;
    }
  }
  CHECK(refused == static_cast<int>(good.size()));
  fmt::print("safetensors: {} of {} truncations refused\n", refused, good.size());
}

TEST_CASE("what would make a bad file is not written", "[safetensors]") {
  const test::TemporaryFolder folder;
  const auto refuse = [&](std::vector<HostTensor> tensors) {
    SafetensorsFile file;
    file.tensors = std::move(tensors);
    CHECK_THROWS_AS(write_safetensors(folder / "bad", file), ValueError);
  };
  refuse({host_tensor<float>("w", {1}, {1}), host_tensor<double>("w", {1}, {1})});
  refuse({host_tensor<float>("w", {1}, {2})});
  refuse({host_tensor<float>("__metadata__", {1}, {1})});
  refuse({host_tensor<float>("\xff", {1}, {1})});
  CHECK(folder.entries() == 0);
}
