// The built-in digits: handwriting-like digits that a deterministic generator draws, so that everything
// trains on a machine without a download. Strokes of several hands, wobbled, sheared, turned, scaled and
// moved; a pen of some width; stray strokes, blur and noise. Image i depends on i only. No libm function
// beside sqrt, which is exact, and no fused multiply-add (the build turns contraction off): the same bits on
// every machine.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "models/dataset.h"

namespace warpline {

inline constexpr std::int64_t kBuiltinTrain = 60000;
inline constexpr std::int64_t kBuiltinTest = 10000;

enum class DigitStyle : std::uint8_t {
  Grey,    // 1 x 28 x 28, ink on black, as in MNIST
  Colour,  // 3 x 32 x 32, ink of one colour on a textured background of another
};

// One set a style and process: made at first use, freed when nobody holds it any more.
std::shared_ptr<const Dataset> builtin_digits(DigitStyle style);

}  // namespace warpline
