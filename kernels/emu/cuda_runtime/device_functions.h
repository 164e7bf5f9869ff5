// What a kernel calls beside mathematics: where it is, barriers, warps, atomics, loads with a hint.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/emu/atomic.h"
#include "kernels/emu/index.h"
#include "kernels/emu/warp.h"

using warpline::emu::__ballot_sync;
using warpline::emu::__shfl_down_sync;
using warpline::emu::__shfl_sync;
using warpline::emu::__shfl_up_sync;
using warpline::emu::__shfl_xor_sync;
using warpline::emu::__syncwarp;
using warpline::emu::atomicAdd;
using warpline::emu::atomicAnd;
using warpline::emu::atomicCAS;
using warpline::emu::atomicDec;
using warpline::emu::atomicExch;
using warpline::emu::atomicInc;
using warpline::emu::atomicMax;
using warpline::emu::atomicMin;
using warpline::emu::atomicOr;
using warpline::emu::atomicSub;
using warpline::emu::atomicXor;
using warpline::emu::blockDim;
using warpline::emu::blockIdx;
using warpline::emu::gridDim;
using warpline::emu::threadIdx;
using warpline::emu::warpSize;

namespace warpline::cuda {

using emu::Site;

// Of all threads of the block at one barrier: how many say yes.
int count_at_barrier(bool yes, Site site);
[[noreturn]] void trap(Site site);

}  // namespace warpline::cuda

// ---- barriers and fences ----
inline void __syncthreads(warpline::emu::Site site = warpline::emu::Site::here(__builtin_FILE(),
                                                                               __builtin_LINE())) {
  warpline::emu::barrier(site);
}
inline int __syncthreads_count(int yes,
                               warpline::emu::Site site = warpline::emu::Site::here(__builtin_FILE(),
                                                                                    __builtin_LINE())) {
  return warpline::cuda::count_at_barrier(yes != 0, site);
}
inline int __syncthreads_and(int yes,
                             warpline::emu::Site site = warpline::emu::Site::here(__builtin_FILE(),
                                                                                  __builtin_LINE())) {
  return static_cast<int>(warpline::cuda::count_at_barrier(yes == 0, site) == 0);
}
inline int __syncthreads_or(int yes, warpline::emu::Site site = warpline::emu::Site::here(__builtin_FILE(),
                                                                                          __builtin_LINE())) {
  return static_cast<int>(warpline::cuda::count_at_barrier(yes != 0, site) != 0);
}
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
[[noreturn]] inline void __trap(warpline::emu::Site site = warpline::emu::Site::here(__builtin_FILE(),
                                                                                     __builtin_LINE())) {
  warpline::cuda::trap(site);
}

// ---- warps ----
// Which lanes run together is promised by nobody: here each runs alone.
inline unsigned __activemask() {
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  return 1U << thread % 32;
}
inline int __all_sync(unsigned mask, int yes,
                      warpline::emu::Site site = warpline::emu::Site::here(__builtin_FILE(),
                                                                           __builtin_LINE())) {
  return static_cast<int>(__ballot_sync(mask, static_cast<int>(yes == 0), site) == 0);
}
inline int __any_sync(unsigned mask, int yes,
                      warpline::emu::Site site = warpline::emu::Site::here(__builtin_FILE(),
                                                                           __builtin_LINE())) {
  return static_cast<int>(__ballot_sync(mask, yes, site) != 0);
}

namespace warpline::cuda {

// Every lane's value in turn, for all that take part.
template <class T, class Visit>
void visit_lanes(unsigned mask, T value, Site site, Visit visit) {
  const unsigned there = __ballot_sync(mask, 1, site);
  for (unsigned rest = there; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    visit(lane, __shfl_sync(mask, value, lane, 32, site));
  }
}

template <class T, class Join>
T reduce_lanes(unsigned mask, T value, Site site, Join join) {
  T result{};
  bool first = true;
  visit_lanes(mask, value, site, [&](int, T other) {
    result = first ? other : join(result, other);
    first = false;
  });
  return result;
}

}  // namespace warpline::cuda

template <class T>
unsigned __match_any_sync(unsigned mask, T value,
                          warpline::emu::Site site = warpline::emu::Site::here(__builtin_FILE(),
                                                                               __builtin_LINE())) {
  unsigned same = 0;
  warpline::cuda::visit_lanes(
      mask, value, site, [&](int lane, T other) { same |= static_cast<unsigned>(other == value) << lane; });
  return same;
}
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* all,
                          warpline::emu::Site site = warpline::emu::Site::here(__builtin_FILE(),
                                                                               __builtin_LINE())) {
  bool same = true;
  warpline::cuda::visit_lanes(mask, value, site, [&](int, T other) { same = same && other == value; });
  *all = static_cast<int>(same);
  return same ? mask : 0;
}

#define WARPLINE_REDUCE(name, expression)                                                             \
  template <class T>                                                                                  \
  T name(unsigned mask, T value,                                                                      \
         warpline::emu::Site site = warpline::emu::Site::here(__builtin_FILE(), __builtin_LINE())) {  \
    return warpline::cuda::reduce_lanes(mask, value, site, [](T a, T b) -> T { return expression; }); \
  }
WARPLINE_REDUCE(__reduce_add_sync, a + b)
WARPLINE_REDUCE(__reduce_min_sync, b < a ? b : a)
WARPLINE_REDUCE(__reduce_max_sync, a < b ? b : a)
WARPLINE_REDUCE(__reduce_and_sync, a& b)
WARPLINE_REDUCE(__reduce_or_sync, a | b)
WARPLINE_REDUCE(__reduce_xor_sync, a ^ b)
#undef WARPLINE_REDUCE

// ---- atomics by scope: one scope serves all here ----
#define WARPLINE_SCOPED(name)                                         \
  template <class T>                                                  \
  T name##_block(T* address, warpline::emu::detail::Same<T> value) {  \
    return name(address, value);                                      \
  }                                                                   \
  template <class T>                                                  \
  T name##_system(T* address, warpline::emu::detail::Same<T> value) { \
    return name(address, value);                                      \
  }
WARPLINE_SCOPED(atomicAdd)
WARPLINE_SCOPED(atomicSub)
WARPLINE_SCOPED(atomicMin)
WARPLINE_SCOPED(atomicMax)
WARPLINE_SCOPED(atomicAnd)
WARPLINE_SCOPED(atomicOr)
WARPLINE_SCOPED(atomicXor)
WARPLINE_SCOPED(atomicExch)
#undef WARPLINE_SCOPED
template <class T>
T atomicCAS_block(T* address, warpline::emu::detail::Same<T> compare, warpline::emu::detail::Same<T> value) {
  return atomicCAS(address, compare, value);
}
template <class T>
T atomicCAS_system(T* address, warpline::emu::detail::Same<T> compare, warpline::emu::detail::Same<T> value) {
  return atomicCAS(address, compare, value);
}

// ---- loads and stores with a hint for caches that are not there ----
#define WARPLINE_LOAD(name)  \
  template <class T>         \
  T name(const T* address) { \
    return *address;         \
  }
#define WARPLINE_STORE(name)                                    \
  template <class T>                                            \
  void name(T* address, warpline::emu::detail::Same<T> value) { \
    *address = value;                                           \
  }
WARPLINE_LOAD(__ldg)
WARPLINE_LOAD(__ldca)
WARPLINE_LOAD(__ldcg)
WARPLINE_LOAD(__ldcs)
WARPLINE_LOAD(__ldcv)
WARPLINE_LOAD(__ldlu)
WARPLINE_STORE(__stcg)
WARPLINE_STORE(__stcs)
WARPLINE_STORE(__stwb)
WARPLINE_STORE(__stwt)
#undef WARPLINE_LOAD
#undef WARPLINE_STORE

// ---- time: the emulator's own ----
long long clock64();
inline void __nanosleep(unsigned) {}
