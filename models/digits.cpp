#include "models/digits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <utility>
#include <vector>

#include "models/draws.h"
#include "models/pen.h"

namespace warpline {
namespace {

constexpr int kClasses = 10;
constexpr int kGreySide = 28;
constexpr int kColourSide = 32;

// Keys of the streams: one a set, style and purpose.
constexpr std::uint64_t kTrainKey = 0x77617270'00000000;
constexpr std::uint64_t kTestKey = 0x77617270'00000100;
constexpr std::uint64_t kColourKey = 2;
constexpr std::uint64_t kLabelKey = 1;

std::uint8_t to_byte(float value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0F, 1.0F) * 255 + 0.5F);
}

float mix(float a, float b, float share) { return a + (b - a) * share; }

// Uniform in [-level, level], four values a draw.
class Noise {
 public:
  // Mostly clean, now and then nearly as loud as `most`: some images stay hard however long one trains.
  Noise(Draws& draws, float most) : draws_(draws) {
    const float dirt = draws.between(0, 1);
    scale_ = most * dirt * dirt * dirt / 127.5F;
  }
  float next() {
    if (left_ == 0) {
      bits_ = draws_.bits();
      left_ = 4;
    }
    const auto byte = static_cast<float>(bits_ & 255U);
    bits_ >>= 8;
    --left_;
    return (byte - 127.5F) * scale_;
  }

 private:
  Draws& draws_;
  float scale_;
  std::uint32_t bits_ = 0;
  int left_ = 0;
};

// Smooth blotches, 0 .. 1: random values at the corners of 8 x 8 tiles, straight lines between them.
class Blotches {
 public:
  explicit Blotches(Draws& draws) {
    for (float& corner : corners_) corner = draws.between(0, 1);
  }
  float at(int x, int y) const {
    const float right = static_cast<float>(x % kTile) / kTile;
    const float down = static_cast<float>(y % kTile) / kTile;
    const auto edge = [&](int row) { return mix(corner(x / kTile, row), corner(x / kTile + 1, row), right); };
    return mix(edge(y / kTile), edge(y / kTile + 1), down);
  }

 private:
  static constexpr int kTile = 8;
  static constexpr int kCorners = kColourSide / kTile + 1;
  float corner(int column, int row) const {
    return corners_[static_cast<std::size_t>(row * kCorners + column)];
  }
  std::array<float, kCorners * kCorners> corners_;
};

using Colour = std::array<float, 3>;

Colour random_colour(Draws& draws) { return {draws.between(0, 1), draws.between(0, 1), draws.between(0, 1)}; }

// How bright a colour looks: ITU-R BT.601.
float brightness(const Colour& c) { return 0.299F * c[0] + 0.587F * c[1] + 0.114F * c[2]; }

void draw_grey(Draws& draws, int digit, std::span<std::uint8_t> image) {
  Ink ink = draw_ink(draws, digit, kGreySide);
  blur(ink, kGreySide, draws.between(0, 0.22F));
  const float level = draws.between(0.65F, 1.0F);
  Noise noise(draws, 0.5F);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = to_byte(level * ink[i] + noise.next());
}

// Ink of one colour on paper of another, blotched with a third. Ink and paper differ in brightness; which of
// them is the brighter one is open.
void draw_colour(Draws& draws, int digit, std::span<std::uint8_t> image) {
  constexpr float kContrast = 0.2F;
  constexpr std::size_t kPlane = kColourSide * kColourSide;
  Ink ink = draw_ink(draws, digit, kColourSide);
  blur(ink, kColourSide, draws.between(0, 0.22F));
  const Colour paper = random_colour(draws);
  const Colour blotch = random_colour(draws);
  const float strength = draws.between(0, 0.6F);
  Colour pen = random_colour(draws);
  while (std::abs(brightness(pen) - brightness(paper)) < kContrast) pen = random_colour(draws);
  const Blotches blotches(draws);
  Noise noise(draws, 0.3F);
  for (int y = 0; y < kColourSide; ++y) {
    for (int x = 0; x < kColourSide; ++x) {
      const auto pixel = static_cast<std::size_t>(y * kColourSide + x);
      const float share = strength * blotches.at(x, y);
      for (std::size_t channel = 0; channel < pen.size(); ++channel) {
        const float bare = mix(paper[channel], blotch[channel], share);
        image[channel * kPlane + pixel] = to_byte(mix(bare, pen[channel], ink[pixel]) + noise.next());
      }
    }
  }
}

struct Style {
  Shape shape;
  void (*draw)(Draws& draws, int digit, std::span<std::uint8_t> image);
  std::uint64_t key;
  // Of pixels / 255 over the first 10,000 training images, by channel; a test computes them anew.
  std::vector<float> mean, std_dev;
};

Style style_of(DigitStyle style) {
  if (style == DigitStyle::Grey) return {{1, kGreySide, kGreySide}, draw_grey, 0, {0.1276F}, {0.2319F}};
  return {{3, kColourSide, kColourSide},
          draw_colour,
          kColourKey,
          {0.5010F, 0.4968F, 0.4965F},
          {0.2545F, 0.2547F, 0.2554F}};
}

Samples samples(const Style& style, std::uint64_t set, std::int64_t count) {
  const std::uint64_t key = set + style.key;
  std::vector<std::uint8_t> labels(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    labels[static_cast<std::size_t>(i)] =
        static_cast<std::uint8_t>(Draws(key + kLabelKey, i).below(kClasses));
  }
  auto draw = [key, labels, paint = style.draw](std::int64_t index, std::span<std::uint8_t> image) {
    Draws draws(key, index);
    paint(draws, labels[static_cast<std::size_t>(index)], image);
  };
  return {std::move(draw), std::move(labels), element_count(style.shape)};
}

}  // namespace

std::shared_ptr<const Dataset> builtin_digits(DigitStyle style) {
  static std::mutex mutex;
  static std::array<std::weak_ptr<const Dataset>, 2> made;
  const std::scoped_lock lock(mutex);
  std::weak_ptr<const Dataset>& slot = made[static_cast<std::size_t>(style)];
  if (std::shared_ptr<const Dataset> data = slot.lock()) return data;
  const Style how = style_of(style);
  Samples train = samples(how, kTrainKey, kBuiltinTrain);
  Samples test = samples(how, kTestKey, kBuiltinTest);
  auto data = std::make_shared<const Dataset>(
      Dataset{"builtin", how.shape, kClasses, how.mean, how.std_dev, std::move(train), std::move(test)});
  slot = data;
  return data;
}

}  // namespace warpline
