#include "kernels/cuda/support.h"

#include <cstdlib>

#include <cuda_runtime_api.h>

#include "kernels/error.h"

namespace warpline::cuda {
namespace {

std::string release(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string describe(int index) {
  cudaDeviceProp gpu{};
  if (const cudaError_t status = cudaGetDeviceProperties(&gpu, index); status != cudaSuccess)
    return fmt::format("unusable: {}", cudaGetErrorString(status));
  return fmt::format("{}, compute capability {}.{}, {:.1f} GiB", gpu.name, gpu.major, gpu.minor,
                     static_cast<double>(gpu.totalGlobalMem) / (1 << 30));
}

// Why there is no device to count. A missing driver and one that is too old have the same status.
std::string reason(cudaError_t status, const Support& found) {
  if (found.driver.empty()) return "the NVIDIA driver is missing; install it, until nvidia-smi lists a GPU";
  if (status == cudaErrorInsufficientDriver) {
    return fmt::format(
        "the driver serves CUDA {}, this build needs {}; update the driver, or build with an older toolkit",
        found.driver, found.runtime);
  }
  if (status == cudaErrorNoDevice || status == cudaSuccess) {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    return fmt::format("the driver finds no GPU{}; see nvidia-smi",
                       visible == nullptr ? "" : fmt::format(" among CUDA_VISIBLE_DEVICES={}", visible));
  }
  return fmt::format("the driver finds no GPU: {} ({}); see nvidia-smi", cudaGetErrorString(status),
                     cudaGetErrorName(status));
}

Support ask() {
  Support found;
  found.runtime = release(CUDART_VERSION);
  found.architectures = WARPLINE_CUDA_ARCHITECTURES;
  int version = 0;
  if (cudaDriverGetVersion(&version) == cudaSuccess && version != 0) found.driver = release(version);
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess) {
    for (int index = 0; index < count; ++index) found.gpus.push_back(describe(index));
  }
  if (found.gpus.empty()) found.missing = reason(status, found);
  cudaGetLastError();  // told here
  return found;
}

}  // namespace

const Support& support() {
  static const Support found = ask();
  return found;
}

void require_device(int index) {
  const Support& found = support();
  if (found.gpus.empty()) {
    fail<DeviceError>("cuda", "{}; or use --device emu, which runs the same kernels on any machine",
                      found.missing);
  }
  const int count = static_cast<int>(found.gpus.size());
  if (index < 0 || index >= count) {
    fail<DeviceError>("cuda", "GPUs are cuda:0 to cuda:{}: there is no cuda:{}; warpline doctor lists them",
                      count - 1, index);
  }
}

}  // namespace warpline::cuda
