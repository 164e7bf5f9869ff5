// Small kernels whose requests to memory can be counted on paper.
#pragma once

#include <string_view>

#include "kernels/stream.h"

namespace warpline::test {

// Each runs one block of 1024 threads and reads or writes up to 4096 floats of `in` and `out`:
// "transposed" (a 32 x 32 tile is read by columns), "padded" (the same, rows of 33), "strided" (every 8th
// float), "vectors" (float4), "broadcast" (one float), "halves" (odd and even lanes part), "tail" (the last
// 10 threads return), "atomics" (all add to one int).
void run_planted_cost(std::string_view name, const float* in, float* out, const Stream& stream);

}  // namespace warpline::test
