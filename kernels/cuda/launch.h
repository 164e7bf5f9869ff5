// What a launch on a GPU needs of the host. Kernel sources include it: C++17, and no library's headers.
#pragma once

#include "kernels/stream.h"

namespace warpline::cuda {

// A kernel goes to the calling thread's current device, which must be the stream's.
void before_launch(const Stream& stream);

// Throws Failure, with CUDA's words, for a launch that was refused. `function` is what the compiler calls a
// function with the template argument Kernel.
void after_launch(const char* function, const Stream& stream);

}  // namespace warpline::cuda
