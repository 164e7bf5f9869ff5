// In place of target `cuda` in a build without nvcc: its errors say why, and how to get it. The build gives
// the reason.
#include "kernels/cuda/resources.h"
#include "kernels/cuda/runtime.h"
#include "kernels/cuda/support.h"
#include "kernels/error.h"
#include "kernels/named_range.h"
#include "kernels/table.h"

namespace warpline {

namespace cuda {
namespace {

[[noreturn]] void fail_absent() {
  fail<DeviceError>("cuda",
                    "this build has no CUDA kernels: {}; or use --device emu, which runs them on any machine",
                    support().missing);
}

}  // namespace

const Support& support() {
  static const Support none{.missing = WARPLINE_NO_CUDA};
  return none;
}

void require_device(int) { fail_absent(); }

Runtime& runtime() { fail_absent(); }

const std::vector<KernelResources>& kernel_resources() {
  static const std::vector<KernelResources> none;
  return none;
}

}  // namespace cuda

std::vector<kernels::Row> kernels::cuda_rows() { return {}; }

NamedRange::NamedRange(std::string_view) {}
NamedRange::~NamedRange() = default;

}  // namespace warpline
