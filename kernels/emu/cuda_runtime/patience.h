// A kernel whose thread waits in a loop for another of its block, which cannot run meanwhile, would never
// end.
#pragma once

namespace warpline::cuda {

// From the first call on, a CUDA thread that runs longer than WARPLINE_EMU_PATIENCE seconds (30) without
// meeting a barrier or a warp primitive ends its kernel: a report, and cudaErrorLaunchTimeout.
void look_after_kernels();

}  // namespace warpline::cuda
