// What is shared: dynamic memory by templates, a struct's bytes with the gaps between its members, the
// runtime by threads of the host. "past" reaches from one shared array into the next, in a kernel that nobody
// waits for.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

template <typename T>
__global__ void reverse(T* x) {
  extern __shared__ __align__(16) unsigned char raw[];
  T* s = reinterpret_cast<T*>(raw);
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[31 - threadIdx.x];
}

template <typename T>
struct Rows {
  static __device__ T second(int row) {
    if (row >= 0) {
      extern __shared__ float rows[][4];
      return rows[row][1];
    }
    return 0;
  }
};

__global__ void seconds(float* x) {
  extern __shared__ float all[];
  all[threadIdx.x] = threadIdx.x;
  __syncthreads();
  x[threadIdx.x] = Rows<float>::second(threadIdx.x / 4);
}

struct Gaps {
  char a;
  int b;
  short c;
  double d;
  char e;
};
__global__ void fill(Gaps* p) { p[threadIdx.x] = Gaps(); }
__global__ void fill_members(Gaps* p) {
  Gaps& own = p[threadIdx.x];
  own.a = own.e = 1;
  own.b = 2;
  own.c = 3;
  own.d = 4;
}
__global__ void copy(const Gaps* p, Gaps* q) { q[threadIdx.x] = p[threadIdx.x]; }

__global__ void add(float* x) { x[threadIdx.x] += 1; }

__global__ void reach(int distance, float* x) {
  __shared__ float own[32], behind[32];
  own[threadIdx.x] = behind[threadIdx.x] = 1;
  __syncthreads();
  x[threadIdx.x] = own[threadIdx.x + distance] + behind[threadIdx.x];
}

int main(int arguments, char**) {
  float *x = nullptr, host[32];
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  reverse<<<1, 32, sizeof host>>>(x);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%g %g\n", host[0], host[31]);
  seconds<<<1, 32, sizeof host>>>(x);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%g %g\n", host[0], host[31]);

  Gaps *p = nullptr, *q = nullptr;
  cudaMalloc(&p, 32 * sizeof(Gaps));
  cudaMalloc(&q, 32 * sizeof(Gaps));
  fill_members<<<1, 32>>>(p);
  copy<<<1, 32>>>(p, q);
  fill<<<1, 32>>>(p);

  std::atomic<int> wrong(0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        float *own = nullptr, result[32];
        cudaStream_t stream;
        cudaMalloc(&own, sizeof result);
        cudaStreamCreate(&stream);
        cudaMemsetAsync(own, 0, sizeof result, stream);
        add<<<1, 32, 0, stream>>>(own);
        cudaMemcpyAsync(result, own, sizeof result, cudaMemcpyDeviceToHost, stream);
        cudaStreamSynchronize(stream);
        if (result[31] != 1) ++wrong;
        cudaFree(own);
        cudaStreamDestroy(stream);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%d wrong, %s\n", wrong.load(), cudaGetErrorName(cudaDeviceSynchronize()));
  if (arguments > 1) reach<<<1, 32>>>(1, x);
}
