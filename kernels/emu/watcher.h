// What a checker or a profiler is told about a running kernel. A launch without one runs at full speed; what
// a kernel reads and writes is told only where it was compiled for that: emu_checked.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/emu/site.h"

namespace warpline::emu {

// One access to memory.
struct Request {
  const void* address = nullptr;
  std::size_t bytes = 0;
  bool writes = false, atomic = false, aligned = true;  // aligned: must be to its size
  const void* return_address = nullptr;                 // into the code that asks
};

class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void begin_block(std::uint64_t block) = 0;
  virtual void become(std::uint32_t thread) = 0;  // runs from now on
  virtual void barrier(const Site& site) = 0;     // all threads of the block have passed it
  // False: this thread does not stop at that __syncthreads or __syncwarp, as if it were not there.
  virtual bool stops_at(const Site& site) = 0;
  virtual void sync_warp(std::uint32_t warp, unsigned lanes) = 0;  // these lanes have met at a __syncwarp
  virtual void access(const Request& request) = 0;
  // The running thread goes on there; told only to one who follows.
  virtual bool follows() const = 0;
  virtual void enter(const void* basic_block) = 0;
};

// Who watches the block that runs on this OS thread, and who of them follows it from basic block to basic
// block; null: nobody. Asked at each access.
extern __thread Watcher *running_watcher [[gnu::tls_model("initial-exec")]],
    *running_follower [[gnu::tls_model("initial-exec")]];

}  // namespace warpline::emu
