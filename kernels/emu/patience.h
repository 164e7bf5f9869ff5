// Kernels that would never end: a thread waits in a loop for another of its block, which cannot run
// meanwhile, or a block meets barrier after barrier.
#pragma once

namespace warpline::emu {

// From the first call on, a CUDA thread that runs longer than WARPLINE_EMU_PATIENCE seconds (30) without
// meeting a barrier or a warp primitive ends its kernel, and so does a block that takes ten times as long:
// KernelTimeout.
void look_after_kernels();

}  // namespace warpline::emu
