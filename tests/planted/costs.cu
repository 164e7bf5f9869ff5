#include "tests/planted/costs.h"

#include "kernels/cuda/device/vector.h"
#include "kernels/cuda/target.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {
namespace {

constexpr int kSide = 32;

template <int kWidth>
__global__ void transpose(const float* in, float* out) {
  __shared__ float tile[kSide][kWidth];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * kSide + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * kSide + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__device__ int flat_thread() { return static_cast<int>(threadIdx.y * kSide + threadIdx.x); }

__global__ void strided(const float* in, float* out) { out[flat_thread()] = in[flat_thread() * 8 % 4096]; }

__global__ void vectors(const float* in, float* out) {
  store_vector(out + flat_thread() * 4, load_vector(in + flat_thread() * 4));
}

__global__ void broadcast(const float* in, float* out) { out[flat_thread()] = in[7]; }

__global__ void halves(const float* in, float* out) {
  if (threadIdx.x % 2 == 0) {
    out[flat_thread()] = in[flat_thread()];
  } else {
    out[flat_thread()] = in[flat_thread() + 1024] * 2;
  }
}

__global__ void tail(const float* in, float* out) {
  if (flat_thread() >= 1014) return;
  out[flat_thread()] = in[flat_thread()];
}

__global__ void atomics(const float*, float* out) { atomicAdd(reinterpret_cast<int*>(out), 1); }

}  // namespace
}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET

namespace warpline::test {

void run_planted_cost(std::string_view name, const float* in, float* out, const Stream& stream) {
  using namespace kernels::WARPLINE_CUDA_TARGET;
  const dim3 one(1), threads(kSide, kSide);
  if (name == "transposed") launch<transpose<kSide>>(one, threads, 0, stream, in, out);
  if (name == "padded") launch<transpose<kSide + 1>>(one, threads, 0, stream, in, out);
  if (name == "strided") launch<strided>(one, threads, 0, stream, in, out);
  if (name == "vectors") launch<vectors>(one, threads, 0, stream, in, out);
  if (name == "broadcast") launch<broadcast>(one, threads, 0, stream, in, out);
  if (name == "halves") launch<halves>(one, threads, 0, stream, in, out);
  if (name == "tail") launch<tail>(one, threads, 0, stream, in, out);
  if (name == "atomics") launch<atomics>(one, threads, 0, stream, in, out);
}

}  // namespace warpline::test
