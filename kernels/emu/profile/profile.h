// What kernels did, counted while they ran: the requests of warps to memory, barriers, branches. The same
// kernel on the same arguments gives the same counts, whatever the order seed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace warpline::emu::profile {

enum class Space : std::uint8_t { Global, Shared };
enum class Direction : std::uint8_t { Load, Store, Atomic };

// Warps' requests of one kind. `parts`: sectors of global memory, wavefronts of shared memory.
struct Traffic {
  std::uint64_t requests = 0, parts = 0, bytes = 0;  // bytes: as the lanes asked
  double parts_per_request() const {
    return requests == 0 ? 0 : static_cast<double>(parts) / static_cast<double>(requests);
  }
  Traffic& operator+=(const Traffic& other);
};

struct Counts {
  std::array<std::array<Traffic, 3>, 2> traffic;  // by Space and Direction
  std::uint64_t barriers = 0;                     // blocks that passed a __syncthreads
  std::uint64_t divergent = 0;                    // times that lanes of a warp parted at a branch

  const Traffic& of(Space space, Direction direction) const {
    return traffic[static_cast<std::size_t>(space)][static_cast<std::size_t>(direction)];
  }
  Traffic& of(Space space, Direction direction) {
    return traffic[static_cast<std::size_t>(space)][static_cast<std::size_t>(direction)];
  }
  Traffic global() const;  // loads, stores and atomics together
  Counts& operator+=(const Counts& other);
};

// All launches of a kernel within one variant of an op.
struct KernelProfile {
  std::string op, variant;  // the row of the kernel table; empty outside of one
  std::string kernel;
  std::uint64_t launches = 0, blocks = 0, threads = 0;
  double flops = 0;  // by the row's formula
  // Bytes of the sectors that a launch touched, each counted once: the traffic of a perfect cache.
  std::uint64_t bytes_touched = 0;
  Counts total;
  // By place: "gemm_2_coalesced.cu:18", or "gemm_2_coalesced.cu:18 > product.h:24" for a call that was
  // inlined there. A branch stands where the block of code begins that ends in it.
  std::map<std::string, Counts> lines;

  // Bytes of all sectors that were asked for: the traffic without a cache.
  std::uint64_t bytes_moved() const { return total.global().parts * 32; }
};

// While it lives, the checked kernels of `emu_checked` are counted as well as checked. One at a time.
class Recording {
 public:
  Recording();
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // Of all kernels that have run since it began or was last asked, in the order of their first launch. What
  // is still on a stream has not run.
  std::vector<KernelProfile> take();
};

}  // namespace warpline::emu::profile
