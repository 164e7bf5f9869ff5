#include "models/pen.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/glyphs.h"

namespace warpline {
namespace {

constexpr float kFar = 1e6F;    // squared distance of a pixel that no stroke comes near
constexpr int kPieces = 4;      // straight pieces between two points of a stroke
constexpr float kSoftEdge = 1;  // the ink fades out over that many pixels
constexpr float kWobble = 14;
constexpr int kStrays = 3;
constexpr float kStray = 10;

// From the box of 100 x 100 to pixels.
class Deformation {
 public:
  Deformation(Draws& draws, int side) {
    const float unit = static_cast<float>(side) / 28 / 5;  // 100 units are 20 pixels of 28, as in MNIST
    const float width = unit * draws.between(0.62F, 1.02F);
    const float height = unit * draws.between(0.78F, 1.1F);
    const float shear = draws.between(-0.35F, 0.35F);
    // Turned by up to 17 degrees; t is the tangent of half the angle, which needs no sine.
    const float t = draws.between(-0.15F, 0.15F);
    const float cosine = (1 - t * t) / (1 + t * t);
    const float sine = 2 * t / (1 + t * t);
    xx_ = cosine * width;
    xy_ = cosine * shear * height - sine * height;
    yx_ = sine * width;
    yy_ = sine * shear * height + cosine * height;
    const float middle = static_cast<float>(side - 1) / 2;
    x_ = middle + draws.between(-2.5F, 2.5F);
    y_ = middle + draws.between(-2.5F, 2.5F);
  }
  Point operator()(Point p) const {
    const float x = p.x - 50;
    const float y = p.y - 50;
    return {x_ + xx_ * x + xy_ * y, y_ + yx_ * x + yy_ * y};
  }

 private:
  float xx_, xy_, yx_, yy_, x_, y_;
};

// Squared distance of every pixel to the nearest stroke, as far as the pen reaches.
class Distances {
 public:
  Distances(int side, float reach) : side_(side), reach_(reach) { squared_.fill(kFar); }

  void add_line(Point a, Point b) {
    const int left = first(std::min(a.x, b.x));
    const int right = last(std::max(a.x, b.x));
    const int top = first(std::min(a.y, b.y));
    const int bottom = last(std::max(a.y, b.y));
    const float dx = b.x - a.x;
    const float dy = b.y - a.y;
    const float scale = 1 / std::max(dx * dx + dy * dy, 1e-6F);
    for (int y = top; y <= bottom; ++y) {
      for (int x = left; x <= right; ++x) {
        const float px = static_cast<float>(x) - a.x;
        const float py = static_cast<float>(y) - a.y;
        const float along = std::clamp((px * dx + py * dy) * scale, 0.0F, 1.0F);
        const float ex = px - along * dx;
        const float ey = py - along * dy;
        float& nearest = squared_[static_cast<std::size_t>(y * side_ + x)];
        nearest = std::min(nearest, ex * ex + ey * ey);
      }
    }
  }

  // A Catmull-Rom spline: through all points, the ends repeated.
  void add_curve(std::span<const Point> points) {
    const auto at = [&](std::size_t i) { return points[std::min(i, points.size() - 1)]; };
    Point from = points[0];
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
      const Point p0 = points[i == 0 ? 0 : i - 1];
      const Point p1 = points[i];
      const Point p2 = at(i + 1);
      const Point p3 = at(i + 2);
      const int pieces = points.size() == 2 ? 1 : kPieces;
      for (int piece = 1; piece <= pieces; ++piece) {
        const float t = static_cast<float>(piece) / static_cast<float>(pieces);
        const auto spline = [t](float a, float b, float c, float d) {
          return b + 0.5F * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
        };
        const Point to = {spline(p0.x, p1.x, p2.x, p3.x), spline(p0.y, p1.y, p2.y, p3.y)};
        add_line(from, to);
        from = to;
      }
    }
  }

  Ink ink(float radius) const {
    Ink ink;
    for (std::size_t i = 0; i < static_cast<std::size_t>(side_ * side_); ++i) {
      ink[i] = squared_[i] == kFar
                   ? 0
                   : std::clamp((radius - std::sqrt(squared_[i])) / kSoftEdge + 0.5F, 0.0F, 1.0F);
    }
    return ink;
  }

 private:
  int first(float low) const { return std::max(0, static_cast<int>(low - reach_)); }
  int last(float high) const { return std::min(side_ - 1, static_cast<int>(high + reach_ + 1)); }

  int side_;
  float reach_;
  std::array<float, kMostPixels> squared_;
};

}  // namespace

Ink draw_ink(Draws& draws, int digit, int side) {
  const auto hands = glyphs(digit);
  const Glyph& glyph = hands[static_cast<std::size_t>(draws.below(static_cast<int>(hands.size())))];
  const Deformation deform(draws, side);
  const float radius = draws.between(0.55F, 1.6F);
  const float hasty = draws.between(0, 1);
  const float wobble = kWobble * hasty * hasty * hasty;
  Distances distances(side, radius + kSoftEdge);
  std::vector<Point> curve;
  for (const Stroke& stroke : glyph) {
    curve.clear();
    for (const Point point : stroke) {
      curve.push_back(
          deform({point.x + draws.between(-wobble, wobble), point.y + draws.between(-wobble, wobble)}));
    }
    distances.add_curve(curve);
  }
  // Stray strokes, so that ink alone says little.
  for (int stray = draws.below(kStrays); stray > 0; --stray) {
    const auto edge = static_cast<float>(side);
    const Point from = {draws.between(0, edge), draws.between(0, edge)};
    distances.add_line(from,
                       {from.x + draws.between(-kStray, kStray), from.y + draws.between(-kStray, kStray)});
  }
  return distances.ink(radius);
}

void blur(std::span<float> pixels, int side, float weight) {
  const float own = 1 - 2 * weight;
  const auto line = [&](int start, int step) {
    float before = 0;
    for (int i = 0; i < side; ++i) {
      float& pixel = pixels[static_cast<std::size_t>(start + i * step)];
      const float after = i + 1 < side ? pixels[static_cast<std::size_t>(start + (i + 1) * step)] : 0;
      const float old = pixel;
      pixel = own * old + weight * (before + after);
      before = old;
    }
  };
  for (int i = 0; i < side; ++i) line(i * side, 1);
  for (int i = 0; i < side; ++i) line(i, side);
}

}  // namespace warpline
