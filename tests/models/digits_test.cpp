// The built-in digits: the same everywhere, learnable, not trivial.
#include "models/digits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "models/glyphs.h"
#include "tests/models/files.h"

using namespace warpline;
using namespace warpline::test;

namespace {

// FNV-1a of images first .. first + count - 1 and their labels.
std::uint64_t hash(const Samples& samples, std::int64_t first, std::int64_t count) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::uint8_t byte) { hash = (hash ^ byte) * 0x100000001b3; };
  for (std::int64_t i = first; i < first + count; ++i) {
    add(samples.label(i));
    for (const std::uint8_t byte : samples.image(i)) add(byte);
  }
  return hash;
}

}  // namespace

TEST_CASE("every digit has several hands within the box", "[digits]") {
  for (int digit = 0; digit < 10; ++digit) {
    CHECK(glyphs(digit).size() >= 3);
    for (const Glyph& glyph : glyphs(digit)) {
      CHECK(!glyph.empty());
      for (const Stroke& stroke : glyph) {
        CHECK(stroke.size() >= 2);
        CHECK(std::all_of(stroke.begin(), stroke.end(),
                          [](Point p) { return p.x >= 0 && p.x <= 100 && p.y >= 0 && p.y <= 100; }));
      }
    }
  }
}

TEST_CASE("the built-in sets have MNIST's sizes and all digits", "[digits]") {
  for (const DigitStyle style : {DigitStyle::Grey, DigitStyle::Colour}) {
    const auto data = builtin_digits(style);
    CHECK(data->name == "builtin");
    CHECK(data->sample_shape == (style == DigitStyle::Grey ? Shape{1, 28, 28} : Shape{3, 32, 32}));
    CHECK(data->train.count() == 60000);
    CHECK(data->test.count() == 10000);
    CHECK(data->train.image_bytes() == element_count(data->sample_shape));
    for (const Samples* samples : {&data->train, &data->test}) {
      std::array<std::int64_t, 10> seen{};
      for (std::int64_t i = 0; i < samples->count(); ++i) ++seen.at(samples->label(i));
      for (const std::int64_t times : seen) {  // four standard deviations of a fair draw
        CHECK(std::abs(static_cast<double>(times) - static_cast<double>(samples->count()) / 10) <
              4 * std::sqrt(static_cast<double>(samples->count()) * 0.09));
      }
    }
  }
}

TEST_CASE("the built-in digits have the same bits everywhere", "[digits]") {
  const auto grey = builtin_digits(DigitStyle::Grey);
  const auto colour = builtin_digits(DigitStyle::Colour);
  CHECK(hash(grey->train, 0, 200) == 0x415df2878112474b);
  CHECK(hash(grey->test, 9800, 200) == 0x965227a408f31808);
  CHECK(hash(colour->train, 59900, 100) == 0x58ce475f647eabad);
  CHECK(hash(colour->test, 0, 100) == 0xf9209023acbeaee0);
}

TEST_CASE("a process shares one set a style, and frees it", "[digits]") {
  auto first = builtin_digits(DigitStyle::Grey);
  std::shared_ptr<const Dataset> other;
  std::thread([&] { other = builtin_digits(DigitStyle::Grey); }).join();
  CHECK(first == other);
  CHECK(builtin_digits(DigitStyle::Colour) != first);
  const std::weak_ptr<const Dataset> watch = first;
  first.reset();
  other.reset();
  CHECK(watch.expired());
}

TEST_CASE("the constants that normalise the built-in digits are theirs", "[digits]") {
  constexpr std::int64_t kImages = 10000;  // the first of the training set: enough for four digits
  for (const DigitStyle style : {DigitStyle::Grey, DigitStyle::Colour}) {
    const auto data = builtin_digits(style);
    const auto channels = static_cast<std::size_t>(data->sample_shape[0]);
    REQUIRE(data->mean.size() == channels);
    REQUIRE(data->std_dev.size() == channels);
    const std::size_t plane = static_cast<std::size_t>(data->train.image_bytes()) / channels;
    for (std::size_t channel = 0; channel < channels; ++channel) {
      std::int64_t sum = 0, squares = 0;
      for (std::int64_t i = 0; i < kImages; ++i) {
        for (const int pixel : data->train.image(i).subspan(channel * plane, plane)) {
          sum += pixel;
          squares += std::int64_t{pixel} * pixel;
        }
      }
      const double pixels = static_cast<double>(plane) * kImages;
      const double mean = static_cast<double>(sum) / pixels;
      const double std_dev = std::sqrt(static_cast<double>(squares) / pixels - mean * mean);
      CHECK(data->mean[channel] == Approx(mean / 255).margin(5.1e-5).epsilon(0));
      CHECK(data->std_dev[channel] == Approx(std_dev / 255).margin(5.1e-5).epsilon(0));
    }
  }
}

TEST_CASE("the built-in digits can be told apart, but not by their mean images", "[digits]") {
  // The class whose mean training image is nearest: what a model must beat. Ten classes: a guess is right in
  // 10 %.
  constexpr std::int64_t kTrain = 3000, kTest = 1000;
  const auto data = builtin_digits(DigitStyle::Grey);
  const auto bytes = static_cast<std::size_t>(data->train.image_bytes());
  std::array<std::vector<double>, 10> means;
  std::array<double, 10> counts{};
  means.fill(std::vector<double>(bytes));
  for (std::int64_t i = 0; i < kTrain; ++i) {
    ++counts.at(data->train.label(i));
    for (std::size_t p = 0; p < bytes; ++p) means.at(data->train.label(i))[p] += data->train.image(i)[p];
  }
  int right = 0;
  for (std::int64_t i = 0; i < kTest; ++i) {
    std::size_t best = 0;
    double nearest = std::numeric_limits<double>::max();
    for (std::size_t digit = 0; digit < means.size(); ++digit) {
      double distance = 0;
      for (std::size_t p = 0; p < bytes; ++p) {
        const double difference = data->test.image(i)[p] - means[digit][p] / counts[digit];
        distance += difference * difference;
      }
      if (distance < nearest) {
        nearest = distance;
        best = digit;
      }
    }
    right += best == data->test.label(i) ? 1 : 0;
  }
  fmt::print("nearest mean image: {:.1f} % of {} right\n", 100.0 * right / kTest, kTest);
  CHECK(right > kTest * 3 / 10);
  CHECK(right < kTest * 8 / 10);
}
