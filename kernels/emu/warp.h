// Warp primitives, with CUDA's names and rules: every lane that is named in the mask and has not returned
// takes part.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/emu/warp_call.h"

namespace warpline::emu {

namespace detail {

template <class T>
T meet(WarpOp op, unsigned mask, T value, int argument, int width, Site site) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
  WarpCall call{op, mask, 0, argument, width, site};
  std::memcpy(&call.value, &value, sizeof value);
  const std::uint64_t taken = emu::meet(call);
  std::memcpy(&value, &taken, sizeof value);
  return value;
}

}  // namespace detail

inline void __syncwarp(unsigned mask = ~0U, Site site = Site::here(__builtin_FILE(), __builtin_LINE())) {
  detail::meet(WarpOp::Sync, mask, 0, 0, 32, site);
}

template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32,
              Site site = Site::here(__builtin_FILE(), __builtin_LINE())) {
  return detail::meet(WarpOp::Shuffle, mask, value, lane, width, site);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 Site site = Site::here(__builtin_FILE(), __builtin_LINE())) {
  return detail::meet(WarpOp::ShuffleUp, mask, value, static_cast<int>(delta), width, site);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   Site site = Site::here(__builtin_FILE(), __builtin_LINE())) {
  return detail::meet(WarpOp::ShuffleDown, mask, value, static_cast<int>(delta), width, site);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32,
                  Site site = Site::here(__builtin_FILE(), __builtin_LINE())) {
  return detail::meet(WarpOp::ShuffleXor, mask, value, lane_mask, width, site);
}

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              Site site = Site::here(__builtin_FILE(), __builtin_LINE())) {
  return static_cast<unsigned>(
      detail::meet(WarpOp::Ballot, mask, std::uint64_t{predicate != 0}, 0, 32, site));
}

}  // namespace warpline::emu
