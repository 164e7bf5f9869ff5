// Lengths around the vector widths, block sizes and piece lengths of kernels, and primes.
#pragma once

#include <array>
#include <cstdint>

namespace warpline::test {

inline constexpr std::array<std::int64_t, 26> kSweepSizes{
    0,  1,  2,  3,  7,   8,   9,   13,   15,   16,   17,     31,     32,
    33, 63, 64, 65, 127, 128, 129, 1000, 1023, 4097, 16'385, 70'001, 200'003};

}  // namespace warpline::test
