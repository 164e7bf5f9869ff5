// Requests that can be counted by hand.
#include <cstdio>

__global__ void count(const float* table, float* result) {
  __shared__ float shared[128];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  shared[threadIdx.x] = table[i * 32];
  __syncthreads();
  float sum = shared[threadIdx.x ^ 1];
  if (threadIdx.x % 2 == 1) sum += table[i];
  result[i] = sum;
}

int main() {
  constexpr unsigned n = 2048;
  float *table = nullptr, *result = nullptr, last = 0;
  cudaMalloc(&table, n * 32 * sizeof(float));
  cudaMalloc(&result, n * sizeof(float));
  cudaMemset(table, 0, n * 32 * sizeof(float));
  count<<<n / 128, 128>>>(table, result);
  cudaMemcpy(&last, result + n - 1, sizeof last, cudaMemcpyDeviceToHost);
  std::printf("%g\n", last);
  return cudaGetLastError();
}
