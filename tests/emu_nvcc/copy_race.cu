// A kernel that writes what a copy of another stream reads, without waiting for it. Two warps have read the
// same before, in order.
#include <cstdio>

__global__ void read(const float* x, float* y) { y[threadIdx.x] = x[0]; }
__global__ void write(float* x) { x[0] = 1; }

int main() {
  float *x = nullptr, *y = nullptr, *z = nullptr;
  cudaMalloc(&x, sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMalloc(&z, sizeof(float));
  cudaMemset(x, 0, sizeof(float));
  cudaDeviceSynchronize();
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaEvent_t read_once;
  cudaEventCreate(&read_once);
  read<<<1, 64, 0, a>>>(x, y);
  cudaEventRecord(read_once, a);
  cudaStreamWaitEvent(b, read_once, 0);
  cudaMemcpyAsync(z, x, sizeof(float), cudaMemcpyDeviceToDevice, b);
#ifdef WAITS
  cudaStreamSynchronize(b);
#endif
  write<<<1, 1, 0, a>>>(x);
  cudaStreamSynchronize(b);
  std::printf("%s\n", cudaGetErrorName(cudaStreamSynchronize(a)));
}
