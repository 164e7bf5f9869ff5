// How people write the ten digits: a few hands for each, as strokes. The built-in digits are drawn from
// these.
#pragma once

#include <span>
#include <vector>

namespace warpline {

struct Point {
  float x, y;
};

// Points of a smooth curve that goes through all of them. A sharp corner is the end of one stroke and the
// start of the next.
using Stroke = std::vector<Point>;
using Glyph = std::vector<Stroke>;  // in a box of 100 x 100, y downwards

// The hands of one digit, 0..9; never empty.
std::span<const Glyph> glyphs(int digit);

}  // namespace warpline
