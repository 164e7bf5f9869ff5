// Draws a digit as ink: a glyph in one of its hands, deformed at random, under a pen of some width.
#pragma once

#include <array>
#include <span>

#include "models/draws.h"

namespace warpline {

inline constexpr int kMostPixels = 32 * 32;
using Ink =
    std::array<float, kMostPixels>;  // by row; 0 bare .. 1 covered; only the first side x side are used

// side at most 32.
Ink draw_ink(Draws& draws, int digit, int side);

// In place: each pixel becomes `weight` of each of its two neighbours and the rest of itself, along both
// axes.
void blur(std::span<float> pixels, int side, float weight);

}  // namespace warpline
