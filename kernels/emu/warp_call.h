// What the lanes of a warp do together, and where a kernel's threads meet: all that a kernel's own text needs
// of the emulator to wait.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/emu/site.h"

namespace warpline::emu {

enum class WarpOp : std::uint8_t { Sync, Shuffle, ShuffleUp, ShuffleDown, ShuffleXor, Ballot };

struct WarpCall {
  WarpOp op = WarpOp::Sync;
  unsigned mask = 0;
  std::uint64_t value = 0;  // what this lane brings
  int argument = 0, width = 32;
  Site site;
};

// The most that a block of compute capability 7.5 may ask for.
constexpr std::size_t kMostSharedBytes = 64 * 1024;

// The dynamic shared memory of the block that runs on this OS thread. Of C and without a constructor, so that
// an array of any type in a kernel can be declared to be it.
extern "C" __thread char warpline_dynamic_shared[kMostSharedBytes];

// For the CUDA thread that runs on this OS thread; KernelError outside a kernel.
void barrier(Site site);            // __syncthreads
std::uint64_t meet(WarpCall call);  // warp primitives; what this lane takes away

}  // namespace warpline::emu
