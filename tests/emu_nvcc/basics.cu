// A vector sum with a tail, a tiled reversal in dynamic shared memory, a sum by shuffles, a constant, a
// stream. FAULT=1 writes past the end, 2 forgets a barrier, 3 has a barrier in a branch.
#include <cstdio>
#include <vector>

#ifndef FAULT
#define FAULT 0
#endif
#define LAUNCH(kernel, count, ...) kernel<<<((count) + 255) / 256, 256>>>(__VA_ARGS__)

__constant__ float factor;

template <class T>
__global__ void add(const T* a, const T* b, T* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n || (FAULT == 1 && i == n)) c[i] = (i < n ? a[i] : 0) + factor * (i < n ? b[i] : 0);
}

extern __shared__ float tile[];

__global__ void reverse(float* x) {
  tile[threadIdx.x] = x[threadIdx.x];
  if (FAULT == 3 ? threadIdx.x < 32 : FAULT != 2) __syncthreads();
  x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

static __device__ __forceinline__ float sum_of_warp(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffff, value, step);
  return value;
}

__global__ void sum(const float* x, int n, float* total) {
  float own = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) own += x[i];
  own = sum_of_warp(own);
  if (threadIdx.x % 32 == 0) atomicAdd(total, own);
}

int main() {
  const int n = 1000, bytes = n * sizeof(float);
  const float two = 2;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) a[i] = b[i] = static_cast<float>(i);
  float *da, *db, *dc, *total;
  cudaMalloc(&da, bytes);
  cudaMalloc((void**)&db, bytes);
  cudaMalloc(&dc, bytes);
  cudaMalloc(&total, sizeof(float));
  cudaMemcpyToSymbol(factor, &two, sizeof two);
  cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice);
  LAUNCH(add<float>, n, da, db, dc, n);
  reverse<<<1, 256, 256 * sizeof(float)>>>(dc);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMemsetAsync(total, 0, sizeof(float), stream);
  sum<<<1, 128, 0, stream>>>(dc, n, total);
  float result = 0;
  cudaMemcpyAsync(&result, total, sizeof result, cudaMemcpyDeviceToHost, stream);
  const cudaError_t error = cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost);
  std::printf("%s: %g %g %g, sum %g\n", cudaGetErrorName(error), c[0], c[255], c[999], result);
  sum<<<1, 2048>>>(dc, n, total);
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
