#include <cstdint>

#include "kernels/cuda/target.h"
#include "tests/planted/faults.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {
namespace {

constexpr int kBlock = 64, kWarp = 32;

// ---- barriers ----

// Reverses tiles of a block's size through shared memory.
template <bool kFirst, bool kSecond>
__global__ void reverse_tiles(const float* in, float* out) {
  __shared__ float tile[kBlock];
  const int thread = static_cast<int>(threadIdx.x);
  for (int first = 0; first < 4 * kBlock; first += kBlock) {
    tile[thread] = in[first + thread];
    if (kFirst) __syncthreads();
    out[first + thread] = tile[kBlock - 1 - thread];
    if (kSecond) __syncthreads();
  }
}

template <bool kFault>
__global__ void barrier_in_a_branch(const float* in, float* out) {
  __shared__ float first;
  if (threadIdx.x == 0) first = in[0];
  if (!kFault || threadIdx.x < kBlock / 2) __syncthreads();
  if (!kFault || threadIdx.x == 0) out[threadIdx.x] = first;
}

template <bool kFault>
__global__ void early_return(const float* in, float* out) {
  __shared__ float tile[kBlock];
  if (kFault && threadIdx.x >= 50) return;
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[0];
}

template <bool kFault>
__global__ void unequal_rounds(const float* in, float* out) {
  const int rounds = kFault ? 1 + static_cast<int>(threadIdx.x % 2) : 2;
  float sum = 0;
  for (int i = 0; i < rounds; ++i) {
    sum += in[i];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

template <bool kFault>
__global__ void tree_without_barriers(const float* in, float* out) {
  __shared__ float sums[kBlock];
  sums[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (unsigned half = kBlock / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    if (!kFault) __syncthreads();
  }
  if (threadIdx.x == 0) out[0] = sums[0];
}

// ---- warps ----

template <bool kFault>
__global__ void hand_over_in_a_warp(const float* in, float* out) {
  __shared__ float tile[kWarp];
  tile[threadIdx.x] = in[threadIdx.x];
  if (!kFault) __syncwarp();
  out[threadIdx.x] = tile[kWarp - 1 - threadIdx.x];
}

template <bool kFault>
__global__ void shuffle_outside_its_mask(const float* in, float* out) {
  const float value = in[threadIdx.x];
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0xffffU, value, kFault ? 20 : 3);
}

// 40 threads: the second warp has 8.
template <bool kFault>
__global__ void shuffle_from_a_missing_lane(const float* in, float* out) {
  const float value = in[threadIdx.x];
  out[threadIdx.x] = __shfl_down_sync(threadIdx.x < kWarp ? ~0U : 0xffU, value, kFault ? 4 : 0);
}

template <bool kFault>
__global__ void lane_that_never_comes(const float* in, float* out) {
  if (!kFault || threadIdx.x != 7) __syncwarp();
  out[threadIdx.x] = in[threadIdx.x];
  if (kFault && threadIdx.x == 7) __syncthreads();
}

// ---- addresses ----

// 20 rows of 50 columns, transposed.
template <bool kFault>
__global__ void swapped_stride(const float* in, float* out) {
  const int row = static_cast<int>(blockIdx.x), column = static_cast<int>(threadIdx.x);
  out[column * (kFault ? 50 : 20) + row] = in[row * 50 + column];
}

template <bool kFault>
__global__ void write_past_the_end(const float* in, float* out, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (kFault ? i <= count : i < count) out[i] = i < count ? in[i] : 0.0F;
}

template <bool kFault>
__global__ void read_past_the_end(const float* in, float* out, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = in[kFault ? i + 1 : i];
}

struct alignas(16) Four {
  double first, second;
};

template <bool kFault>
__global__ void misaligned_vector(const float* in, float* out) {
  const auto* from = reinterpret_cast<const Four*>(in + (kFault ? 1 : 0));
  out[threadIdx.x] = static_cast<float>(from[threadIdx.x].first);
}

template <bool kFault>
__global__ void int32_offset(const float* in, float* out, unsigned rows, unsigned columns) {
  const unsigned product = rows * columns;  // 2^32 + 8 wraps to 8
  const std::int64_t offset = kFault ? static_cast<std::int64_t>(static_cast<int>(product * 0xffffffU)) : 8;
  out[threadIdx.x] = in[offset];
}

template <bool kFault>
__global__ void dynamic_array_too_short(const float* in, float* out) {
  auto* tile = dynamic_shared<float>();
  tile[threadIdx.x + (kFault ? 1 : 0)] = in[threadIdx.x];
  out[threadIdx.x] = tile[threadIdx.x + (kFault ? 1 : 0)];
}

template <bool kFault>
__global__ void shared_array_too_short(const float* in, float* out) {
  __shared__ float tile[kBlock];
  const unsigned place = threadIdx.x + (kFault ? blockDim.x * 1000 : 0);
  tile[place] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[kBlock - 1 - threadIdx.x];
}

__global__ void copy_kernel(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x]; }

// ---- unwritten memory ----

template <bool kFault>
__global__ void unwritten_shared(const float* in, float* out) {
  __shared__ float tile[kBlock];
  if (!kFault || threadIdx.x != 5) tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[kBlock - 1 - threadIdx.x];
}

// What the block before left is not remembered.
template <bool kFault>
__global__ void shared_of_the_block_before(const float* in, float* out) {
  __shared__ float kept;
  if (threadIdx.x == 0 && (!kFault || blockIdx.x == 0)) kept = in[0];
  __syncthreads();
  out[blockIdx.x * kBlock + threadIdx.x] = kept;
}

template <bool kFault>
__global__ void unwritten_global(const float* in, float* out) {
  if (!kFault) out[threadIdx.x] = 0;
  out[threadIdx.x] += in[threadIdx.x];
}

// Two buffers; the last tile of an odd number lies in the first.
template <bool kFault>
__global__ void wrong_tail_buffer(const float* in, float* out) {
  __shared__ float tiles[2][kBlock];
  tiles[0][threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tiles[kFault ? 1 : 0][kBlock - 1 - threadIdx.x];
}

// ---- between blocks and streams ----

template <bool kFault>
__global__ void blocks_write_one_cell(const float* in, float* out) {
  if (threadIdx.x == 0) out[kFault ? 0 : blockIdx.x] = in[blockIdx.x];
}

template <bool kFault>
__global__ void block_reads_another(const float* in, float* out) {
  if (threadIdx.x != 0) return;
  out[blockIdx.x] = in[blockIdx.x];
  if (kFault && blockIdx.x == 1) out[2] = out[0];
}

template <bool kFault>
__global__ void counts_without_atomics(const float* in, float* out) {
  __shared__ int counts[2];
  if (threadIdx.x < 2) counts[threadIdx.x] = 0;
  __syncthreads();
  int* const count = &counts[in[threadIdx.x] > 0 ? 1 : 0];
  if (kFault) {
    ++*count;
  } else {
    atomicAdd(count, 1);
  }
  __syncthreads();
  if (threadIdx.x < 2) out[threadIdx.x] = static_cast<float>(counts[threadIdx.x]);
}

template <bool kFault>
__global__ void reads_while_others_add(const float* in, float* out) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[threadIdx.x]);
  if (!kFault) __syncthreads();
  out[threadIdx.x] = sum;
}

// ---- launches ----

// The kernel with and without its fault, on one block or more.
#define WARPLINE_PLANTED(kernel, blocks, threads, shared)                          \
  [](bool fault, const float* in, float* out, const Stream& stream) {              \
    if (fault) {                                                                   \
      launch<kernel<true>>(dim3(blocks), dim3(threads), shared, stream, in, out);  \
    } else {                                                                       \
      launch<kernel<false>>(dim3(blocks), dim3(threads), shared, stream, in, out); \
    }                                                                              \
  }

void run_first_barrier(bool fault, const float* in, float* out, const Stream& stream) {
  if (fault) {
    launch<reverse_tiles<false, true>>(dim3(1), dim3(kBlock), 0, stream, in, out);
  } else {
    launch<reverse_tiles<true, true>>(dim3(1), dim3(kBlock), 0, stream, in, out);
  }
}

void run_second_barrier(bool fault, const float* in, float* out, const Stream& stream) {
  if (fault) {
    launch<reverse_tiles<true, false>>(dim3(1), dim3(kBlock), 0, stream, in, out);
  } else {
    launch<reverse_tiles<true, true>>(dim3(1), dim3(kBlock), 0, stream, in, out);
  }
}

void run_write_past_the_end(bool fault, const float* in, float* out, const Stream& stream) {
  const dim3 grid(16);
  if (fault) {
    launch<write_past_the_end<true>>(grid, dim3(kBlock), 0, stream, in, out, test::kPlantedFloats);
  } else {
    launch<write_past_the_end<false>>(grid, dim3(kBlock), 0, stream, in, out, test::kPlantedFloats);
  }
}

void run_read_past_the_end(bool fault, const float* in, float* out, const Stream& stream) {
  const dim3 grid(16);
  if (fault) {
    launch<read_past_the_end<true>>(grid, dim3(kBlock), 0, stream, in, out, test::kPlantedFloats);
  } else {
    launch<read_past_the_end<false>>(grid, dim3(kBlock), 0, stream, in, out, test::kPlantedFloats);
  }
}

void run_int32_offset(bool fault, const float* in, float* out, const Stream& stream) {
  if (fault) {
    launch<int32_offset<true>>(dim3(1), dim3(kBlock), 0, stream, in, out, 0x10000008U / 8, 128U);
  } else {
    launch<int32_offset<false>>(dim3(1), dim3(kBlock), 0, stream, in, out, 0x10000008U / 8, 128U);
  }
}

void run_memory_of_the_host(bool fault, const float* in, float* out, const Stream& stream) {
  static const std::vector<float> host(kBlock, 1.0F);
  launch<copy_kernel>(dim3(1), dim3(kBlock), 0, stream, fault ? host.data() : in, out);
}

}  // namespace
}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET

namespace warpline::test {

const std::vector<PlantedFault>& planted_faults() {
  using namespace kernels::WARPLINE_CUDA_TARGET;
  static const std::vector<PlantedFault> faults{
      {"first barrier of a tile loop", "racecheck", &run_first_barrier},
      {"second barrier of a tile loop", "racecheck", &run_second_barrier},
      {"barrier in a branch", "synccheck", WARPLINE_PLANTED(barrier_in_a_branch, 1, kBlock, 0)},
      {"early return", "synccheck", WARPLINE_PLANTED(early_return, 1, kBlock, 0)},
      {"unequal rounds", "synccheck", WARPLINE_PLANTED(unequal_rounds, 1, kBlock, 0)},
      {"tree without barriers", "racecheck", WARPLINE_PLANTED(tree_without_barriers, 1, kBlock, 0)},
      {"missing __syncwarp", "racecheck", WARPLINE_PLANTED(hand_over_in_a_warp, 1, kWarp, 0)},
      {"shuffle outside its mask", "synccheck", WARPLINE_PLANTED(shuffle_outside_its_mask, 1, kWarp, 0)},
      {"shuffle from a missing lane", "synccheck", WARPLINE_PLANTED(shuffle_from_a_missing_lane, 1, 40, 0)},
      {"lane that never comes", "synccheck", WARPLINE_PLANTED(lane_that_never_comes, 1, kWarp, 0)},
      {"swapped stride", "memcheck", WARPLINE_PLANTED(swapped_stride, 20, 50, 0)},
      {"write past the end", "memcheck", &run_write_past_the_end},
      {"read past the end", "memcheck", &run_read_past_the_end},
      {"misaligned vector load", "memcheck", WARPLINE_PLANTED(misaligned_vector, 1, kBlock, 0)},
      {"int32 offset", "memcheck", &run_int32_offset},
      {"dynamic array too short", "memcheck",
       WARPLINE_PLANTED(dynamic_array_too_short, 1, kBlock, kBlock * sizeof(float))},
      {"shared array too short", "memcheck", WARPLINE_PLANTED(shared_array_too_short, 1, kBlock, 0)},
      {"memory of the host", "memcheck", &run_memory_of_the_host},
      {"unwritten shared memory", "initcheck", WARPLINE_PLANTED(unwritten_shared, 1, kBlock, 0)},
      {"shared memory of the block before", "initcheck",
       WARPLINE_PLANTED(shared_of_the_block_before, 2, kBlock, 0)},
      {"unwritten global memory", "initcheck", WARPLINE_PLANTED(unwritten_global, 1, kBlock, 0)},
      {"wrong tail buffer", "initcheck", WARPLINE_PLANTED(wrong_tail_buffer, 1, kBlock, 0)},
      {"blocks write one cell", "racecheck", WARPLINE_PLANTED(blocks_write_one_cell, 4, kBlock, 0)},
      {"block reads another's cell", "racecheck", WARPLINE_PLANTED(block_reads_another, 4, kBlock, 0)},
      {"counts without atomics", "racecheck", WARPLINE_PLANTED(counts_without_atomics, 1, kBlock, 0)},
      {"reads while others add", "racecheck", WARPLINE_PLANTED(reads_while_others_add, 1, kBlock, 0)},
  };
  return faults;
}

}  // namespace warpline::test
