#include "engine/random.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/error.h"
#include "tests/support/options.h"

using namespace warpline;
using Words = std::array<std::uint32_t, 4>;

namespace {
const test::Offers offers{true, false};
}

// Random123 1.09, kat_vectors, "philox4x32 10".
TEST_CASE("Philox4x32-10 gives the published vectors", "[random]") {
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const std::uint32_t ones = 0xffffffff;
  CHECK(philox4x32({ones, ones, ones, ones}, {ones, ones}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  // The digits of pi.
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

// FNV-1a 64, as published with the hash.
TEST_CASE("a stream is named by the FNV-1a hash of its name", "[random]") {
  CHECK(stream_id("") == 0xcbf29ce484222325);
  CHECK(stream_id("a") == 0xaf63dc4c8601ec8c);
  CHECK(stream_id("foobar") == 0x85944171f73967e8);
}

TEST_CASE("a number is a function of seed, stream and index", "[random]") {
  const std::uint64_t stream = stream_id("conv1.weight");
  const Words block = philox4x32(
      {1, 0, static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)}, {7, 0});
  for (std::uint64_t i = 0; i < 4; ++i) CHECK(random_bits(7, stream, 4 + i) == block[i]);
  CHECK(random_bits(7, stream, 3) != random_bits(8, stream, 3));
  CHECK(random_bits(7, stream, 3) != random_bits(7 + (std::uint64_t{1} << 32), stream, 3));
  CHECK(random_bits(7, stream, 3) != random_bits(7, stream_id("conv1.bias"), 3));
  CHECK(random_bits(7, stream, 3) != random_bits(7, stream, 3 + (std::uint64_t{1} << 34)));
}

TEST_CASE("uniform numbers fill [0, 1) evenly", "[random]") {
  constexpr std::uint64_t kCount = 100'000;
  std::vector<int> histogram(10, 0);
  double sum = 0.0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double value = uniform(1, 2, i);
    REQUIRE((value >= 0.0 && value < 1.0));
    ++histogram[static_cast<std::size_t>(value * 10)];
    sum += value;
  }
  // Five standard deviations: of a bin sqrt(n p (1-p)) = 95, of the mean sqrt(1/12/n) = 0.0009.
  for (const int bin : histogram) CHECK(std::abs(bin - 10'000) < 475);
  CHECK(std::abs(sum / kCount - 0.5) < 0.0046);
}

TEST_CASE("a tensor is filled alike whatever its shape, device and dtype", "[random]") {
  std::vector<float> expected;
  for (std::uint64_t i = 0; i < 35; ++i) {
    expected.push_back(static_cast<float>((2.0 * uniform(3, stream_id("fc1.bias"), i) - 1.0) * 0.25));
  }
  for (const DeviceKind kind : test::device_kinds()) {
    Context context(Device{kind, kind == DeviceKind::Cuda ? 0 : 1});  // there may be one GPU only
    Tensor single = Tensor::empty(context, {5, 7}), twice = Tensor::empty(context, {35}, DType::Float64);
    fill_uniform(context, single, 3, "fc1.bias", 0.25);
    fill_uniform(context, twice, 3, "fc1.bias", 0.25);
    CHECK(single.to_host<float>() == expected);
    CHECK(single.storage()->version() == 1);
    const std::vector<double> doubles = twice.to_host<double>();
    CHECK(std::vector<float>(doubles.begin(), doubles.end()) == expected);
    const auto [low, high] = std::ranges::minmax(doubles);
    CHECK((low >= -0.25 && low < -0.15 && high <= 0.25 && high > 0.15));
    Tensor empty = Tensor::empty(context, {0});
    fill_uniform(context, empty, 3, "fc1.bias", 0.25);
  }
}

TEST_CASE("only floating tensors without history are filled", "[random]") {
  Context context;
  Tensor labels = Tensor::empty(context, {3}, DType::Int64);
  CHECK_THROWS_AS(fill_uniform(context, labels, 1, "labels", 1.0), DTypeError);
  Tensor weight = Tensor::zeros(context, {3});
  weight.set_requires_grad();
  CHECK_THROWS_AS(fill_uniform(context, weight, 1, "weight", 1.0), AutogradError);
}
