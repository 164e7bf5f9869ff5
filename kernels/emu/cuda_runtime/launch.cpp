// Launches of kernels, and what a kernel calls beside the emulator's own barriers and warps.
#include "kernels/emu/cuda_runtime/launch.h"

#include <chrono>
#include <memory>
#include <utility>

#include "kernels/emu/cuda_runtime/device_functions.h"
#include "kernels/emu/cuda_runtime/state.h"
#include "kernels/emu/grid.h"
#include "kernels/emu/index.h"

namespace warpline::cuda {

cudaError_t launch(const LaunchSite& site, const LaunchShape& shape, const Body& body) {
  const emu::KernelCall call{
      body.run, std::shared_ptr<const void>(body.object, [=](const void*) { body.destroy(body.object); }),
      body.bytes};
  return api([&](State& state) {
    CUstream_st* const stream = state.find(shape.stream);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    const emu::LaunchShape wanted{site.kernel, shape.grid, shape.block, shape.shared_bytes, checked()};
    try {
      emu::check_launch(site.kernel, shape.grid, shape.block, shape.shared_bytes,
                        state.most_shared_bytes(site.address));
    } catch (const ValueError& error) {
      if (checked()) {
        emu::check::add({"launch", fmt::format("========= launch: {}\n=========   at {}\n", error.what(),
                                               emu::to_string(site.site))});
        state.take_new_reports();  // the error tells it
      }
      return cudaErrorInvalidConfiguration;
    }
    state.put(*stream, [&state, wanted, call, device = stream->device](const emu::Moment& moment) {
      const std::lock_guard lock(state.pool_mutex());
      const Stream on{{wanted.checked ? DeviceKind::EmuChecked : DeviceKind::Emu, device}, &state.pool()};
      emu::run_launch(wanted, call, on, moment, {});
    });
    return cudaSuccess;
  });
}

int count_at_barrier(bool yes, emu::Site site) {
  // One block runs on an OS thread. Whoever arrives last leaves the sum for all, who read it before the first
  // of them arrives again.
  static thread_local unsigned arrived = 0;
  static thread_local int count = 0, result = 0;
  count += static_cast<int>(yes);
  if (++arrived == emu::blockDim.x * emu::blockDim.y * emu::blockDim.z) {
    result = std::exchange(count, 0);
    arrived = 0;
  }
  emu::barrier(site);
  return result;
}

cudaError_t allow_shared_bytes(const void* kernel, std::size_t bytes) {
  if (bytes > emu::kMostSharedBytes) return note(cudaErrorInvalidValue);
  State::instance().allow_shared_bytes(kernel, bytes);
  return cudaSuccess;
}

cudaError_t check_symbol(std::size_t symbol_bytes, std::size_t bytes, std::size_t offset) {
  return note(offset <= symbol_bytes && bytes <= symbol_bytes - offset ? cudaSuccess : cudaErrorInvalidValue);
}

}  // namespace warpline::cuda

long long clock64() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
