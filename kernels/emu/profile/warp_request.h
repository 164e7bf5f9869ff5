// What one memory request of a warp costs: the accesses of its lanes at one place of the code.
#pragma once

#include <array>
#include <cstdint>

namespace warpline::emu::profile {

inline constexpr unsigned kWarp = 32;

struct WarpRequest {
  std::array<std::uint64_t, kWarp> address;  // bytes; of lanes in the mask
  std::uint32_t lanes = 0;
  std::uint32_t bytes = 0;  // of a lane
};

// Global memory moves in sectors of 32 bytes: how many different ones the lanes touch.
inline constexpr std::uint64_t kSectorBytes = 32;
int sectors(const WarpRequest& request);

// Shared memory has 32 banks of 4 bytes. A wavefront serves any number of lanes, as long as they want no two
// different words of one bank. Lanes go together as far as they want 128 bytes at most: all 32 of 4 bytes, 16
// of 8, 8 of 16. (CUDA C++ Programming Guide, "Shared Memory" of the compute capabilities.)
int wavefronts(const WarpRequest& request);

}  // namespace warpline::emu::profile
