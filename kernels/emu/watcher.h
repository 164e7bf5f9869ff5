// What a checker is told about a running kernel. A launch without one runs at full speed.
#pragma once

#include <cstdint>

#include "kernels/emu/site.h"

namespace warpline::emu {

class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void begin_block(std::uint64_t block) = 0;
  virtual void become(std::uint32_t thread) = 0;  // runs from now on
  virtual void barrier() = 0;                     // all threads of the block have passed one
  // False: this thread does not stop at that __syncthreads or __syncwarp, as if it were not there.
  virtual bool stops_at(const Site& site) = 0;
  virtual void sync_warp(std::uint32_t warp, unsigned lanes) = 0;  // these lanes have met at a __syncwarp
};

}  // namespace warpline::emu
