// Reductions over a group of cooperative groups: a tree of shuffles over a tile.
#pragma once

#include "kernels/emu/cuda_runtime/cooperative_groups.h"

namespace cooperative_groups {

#define WARPLINE_OPERATION(name, expression)            \
  template <class T>                                    \
  struct name {                                         \
    T operator()(T a, T b) const { return expression; } \
  };
WARPLINE_OPERATION(plus, a + b)
WARPLINE_OPERATION(less, b < a ? b : a)
WARPLINE_OPERATION(greater, a < b ? b : a)
WARPLINE_OPERATION(bit_and, a& b)
WARPLINE_OPERATION(bit_or, a | b)
WARPLINE_OPERATION(bit_xor, a ^ b)
#undef WARPLINE_OPERATION

template <unsigned Size, class Parent, class T, class Operation>
T reduce(const thread_block_tile<Size, Parent>& tile, T value, Operation operation,
         warpline::emu::Site site = warpline::emu::Site::here(__builtin_FILE(), __builtin_LINE())) {
  for (unsigned step = Size / 2; step > 0; step /= 2)
    value = operation(value, tile.shfl_xor(value, static_cast<int>(step), site));
  return value;
}
// Each thread alone.
template <class T, class Operation>
T reduce(const coalesced_group&, T value, Operation) {
  return value;
}

}  // namespace cooperative_groups
