#include "kernels/cuda/call.h"

#include <string>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/support.h"
#include "kernels/emu/grid.h"
#include "kernels/error.h"

namespace warpline::cuda {
namespace {

std::string next_step(cudaError_t status) {
  switch (status) {
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return fmt::format(
          "this build has device code for compute capability {}: configure with -Dcuda-arch=NN for this GPU, "
          "which warpline doctor names",
          support().architectures);
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorLaunchFailure:
      return "a kernel failed, and this process can use the GPU no more: run the same with --device emu "
             "--check, "
             "which names the access";
    case cudaErrorMemoryAllocation:
      return "use a smaller batch or more micro-batches";
    default:
      return "warpline doctor shows the GPUs and the driver";
  }
}

}  // namespace

void fail_call(cudaError_t status, std::string_view call, Device device) {
  cudaGetLastError();  // told here: the next launch is not to tell it again
  fail<Failure>("cuda", "{} on {}: {} ({}); {}", call, to_string(device), cudaGetErrorString(status),
                cudaGetErrorName(status), next_step(status));
}

void before_launch(const Stream& stream) { make_current(stream.device); }

void after_launch(const char* function, const Stream& stream) {
  const cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) return;
  fail_call(status, fmt::format("launch of {}", emu::cut_kernel_name(function)), stream.device);
}

}  // namespace warpline::cuda
