#include "kernels/runtime.h"

#include "kernels/cuda/runtime.h"
#include "kernels/emu/runtime.h"
#include "kernels/error.h"
#include "kernels/host_runtime.h"

namespace warpline {

Runtime& runtime(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::Ref:
    case DeviceKind::Cpu:
      return host_runtime();
    case DeviceKind::Cuda:
      return cuda::runtime();
    case DeviceKind::Emu:
      return emu::runtime();
    case DeviceKind::EmuChecked:
      return emu::checked_runtime();
  }
  fail<DeviceError>("device", "this build has no {}", to_string(kind));
}

}  // namespace warpline
