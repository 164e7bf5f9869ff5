// Cooperative groups of a block: the block, tiles of a warp, and threads that happen to run together.
#pragma once

#include "kernels/emu/cuda_runtime/cuda_runtime.h"

namespace cooperative_groups {

#define WARPLINE_SITE warpline::emu::Site site = warpline::emu::Site::here(__builtin_FILE(), __builtin_LINE())

// A group as one of its threads sees it.
class thread_group {
 public:
  unsigned thread_rank() const { return rank_; }
  unsigned long long size() const { return size_; }
  unsigned num_threads() const { return size_; }
  bool is_valid() const { return true; }
  void sync(WARPLINE_SITE) const {
    if (mask_ == 0) {
      __syncthreads(site);
    } else {
      __syncwarp(mask_, site);
    }
  }

 protected:
  // Mask 0: the block.
  thread_group(unsigned rank, unsigned size, unsigned mask) : rank_(rank), size_(size), mask_(mask) {}
  unsigned mask() const { return mask_; }
  friend thread_group tiled_partition(const thread_group& parent, unsigned size);

 private:
  unsigned rank_, size_, mask_;
};

class thread_block : public thread_group {
 public:
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }

 private:
  thread_block()
      : thread_group(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z),
                     blockDim.x * blockDim.y * blockDim.z, 0) {}
  friend thread_block this_thread_block();
};

inline thread_block this_thread_block() { return {}; }

namespace detail {

// Of the tile of `size` lanes that the calling thread is in.
inline unsigned mask_of_tile(unsigned size) {
  const unsigned lane = this_thread_block().thread_rank() % 32;
  return size == 32 ? ~0U : ((1U << size) - 1) << (lane / size * size);
}

}  // namespace detail

// nvcc lets a function with `template <int Size>` take a tile, whose size CUDA declares as unsigned: a tile
// of an int is one of an unsigned as well.
template <auto Size, class Parent = void>
class thread_block_tile : public thread_block_tile<static_cast<unsigned>(Size), Parent> {
  using Base = thread_block_tile<static_cast<unsigned>(Size), Parent>;

 public:
  thread_block_tile(const Base& tile) : Base(tile) {}  // NOLINT(google-explicit-constructor): the same tile
  explicit thread_block_tile(const thread_group& parent) : Base(parent) {}
};

template <unsigned Size, class Parent>
class thread_block_tile<Size, Parent> : public thread_group {
  static_assert(Size <= 32 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");

 public:
  explicit thread_block_tile(const thread_group& parent)
      : thread_group(parent.thread_rank() % Size, Size, detail::mask_of_tile(Size)),
        meta_rank_(parent.thread_rank() / Size),
        meta_size_((parent.num_threads() + Size - 1) / Size) {}

  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }
  template <class T>
  T shfl(T value, int lane, WARPLINE_SITE) const {
    return __shfl_sync(mask(), value, lane, Size, site);
  }
  template <class T>
  T shfl_down(T value, unsigned step, WARPLINE_SITE) const {
    return __shfl_down_sync(mask(), value, step, Size, site);
  }
  template <class T>
  T shfl_up(T value, unsigned step, WARPLINE_SITE) const {
    return __shfl_up_sync(mask(), value, step, Size, site);
  }
  template <class T>
  T shfl_xor(T value, int bits, WARPLINE_SITE) const {
    return __shfl_xor_sync(mask(), value, bits, Size, site);
  }
  unsigned ballot(int yes, WARPLINE_SITE) const {
    return __ballot_sync(mask(), yes, site) >> __builtin_ctz(mask());
  }
  int any(int yes, WARPLINE_SITE) const { return __any_sync(mask(), yes, site); }
  int all(int yes, WARPLINE_SITE) const { return __all_sync(mask(), yes, site); }

 private:
  unsigned meta_rank_, meta_size_;
};

template <auto Size>
thread_block_tile<Size> tiled_partition(const thread_group& parent) {
  return thread_block_tile<Size>(parent);
}
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
  return {parent.thread_rank() % size, size, detail::mask_of_tile(size)};
}

// Which threads run together is promised by nobody: here each runs alone.
class coalesced_group : public thread_group {
 public:
  coalesced_group() : thread_group(0, 1, __activemask()) {}
};
inline coalesced_group coalesced_threads() { return {}; }

// All blocks, without sync(): they do not run at the same time.
class grid_group {
 public:
  unsigned long long thread_rank() const {
    const unsigned long long block =
        blockIdx.x + static_cast<unsigned long long>(gridDim.x) * (blockIdx.y + gridDim.y * blockIdx.z);
    return block * this_thread_block().size() + this_thread_block().thread_rank();
  }
  unsigned long long size() const {
    return static_cast<dim3>(gridDim).count() * static_cast<dim3>(blockDim).count();
  }
  bool is_valid() const { return false; }
  template <class T = void>
  void sync() const {
    static_assert(sizeof(T*) == 0, "grid_group::sync() is not emulated; see docs/emulator.md");
  }
};
inline grid_group this_grid() { return {}; }

template <class Group>
void sync(const Group& group, WARPLINE_SITE) {
  group.sync(site);
}

#undef WARPLINE_SITE

}  // namespace cooperative_groups
