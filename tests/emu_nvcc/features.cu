// Variables of the device, managed memory, cooperative groups, shared memory beyond 48 KiB, rows with a
// pitch, then a kernel that stops: "assert", or "spin" for one that waits in a loop.
#include <cassert>
#include <cstdio>
#include <cstring>

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__device__ int m;
__device__ __managed__ int shared_with_host = 3;
static __device__ float table[4] = {1, 2, 3, 4};

template <int Size, class T>
__device__ T sum_of(cg::thread_block_tile<Size> tile, T value) {
  for (int step = tile.size() / 2; step > 0; step /= 2) value += tile.shfl_down(value, step);
  return value;
}

__global__ void count(int* tiles, int columns, size_t pitch) {
  atomicAdd(&m, static_cast<int>(table[3]));
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int sum = sum_of(tile, static_cast<int>(threadIdx.x));
  int* const row = reinterpret_cast<int*>(reinterpret_cast<char*>(tiles) + tile.meta_group_rank() * pitch);
  if (tile.thread_rank() < columns) row[tile.thread_rank()] = tile.thread_rank() == 0 ? sum : -1;
  if (threadIdx.x == 0) shared_with_host *= 2;
}

extern __shared__ unsigned char bytes[];

__global__ void last_byte(int count, int* result) {
  bytes[count - 1] = 42;
  *result = bytes[count - 1];
}

__global__ void circle(volatile int* flag) {
  while (*flag == 0) __syncthreads();
}

__global__ void stop(volatile int* flag, bool wait) {
  assert(wait);
  if (threadIdx.x == 1) *flag = 1;
  while (*flag == 0) {
  }
}

int main(int, char** arguments) {
  int *tiles, rows[4][2], sum = 0;
  size_t pitch = 0;
  cudaMallocPitch(&tiles, &pitch, sizeof rows[0], 4);
  cudaMemset(tiles, 0, pitch * 4);
  count<<<1, 32>>>(tiles, 2, pitch);
  cudaMemcpy2D(rows, sizeof rows[0], tiles, pitch, sizeof rows[0], 4, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&sum, m, sizeof sum);
  std::printf("%d %d: %d %d %d %d, %d\n", sum, shared_with_host, rows[0][0], rows[1][0], rows[2][0],
              rows[3][0], rows[3][1]);

  const int most = 64 * 1024;
  int* result;
  cudaMallocManaged(&result, sizeof *result);
  last_byte<<<1, 1, most>>>(most, result);
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  cudaFuncSetAttribute(last_byte, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
  last_byte<<<1, 1, most>>>(most, result);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s %d\n", cudaGetErrorName(error), *result);

  *result = 0;
  if (std::strcmp(arguments[1], "circle") == 0)
    circle<<<1, 32>>>(result);
  else
    stop<<<1, 32, 0, NULL>>>(result, std::strcmp(arguments[1], "spin") == 0);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
