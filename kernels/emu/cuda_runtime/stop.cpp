#include "kernels/emu/cuda_runtime/stop.h"

#include <cstdio>
#include <cstdlib>

#include "kernels/emu/block.h"
#include "kernels/emu/check/checker.h"
#include "kernels/emu/cuda_runtime/device_functions.h"
#include "kernels/emu/cuda_runtime/state.h"

namespace warpline::cuda {

void stop_kernel(cudaError_t error, const char* check, const std::string& why) {
  State::instance().name_failure(error);
  // A program may expect that its assertion fails: without the checks that alone is no report.
  if (error != cudaErrorAssert || checked())
    emu::check::add({check, fmt::format("========= {}: {}\n", check, why)});
  if (checked()) emu::check::Checker::instance().note_stop();
  emu::Block::current().abandon(why);
}

void trap(emu::Site site) {
  stop_kernel(cudaErrorLaunchFailure, "trap", fmt::format("__trap at {}", emu::to_string(site)));
}

}  // namespace warpline::cuda

// What assert() of <assert.h> calls, in place of the C library's.
extern "C" [[noreturn]] void __assert_fail(const char* assertion, const char* file, unsigned line,
                                           const char* function) noexcept {
  if (!warpline::emu::Block::runs()) {
    fmt::print(stderr, "{}:{}: {}: Assertion `{}' failed.\n", file, line, function, assertion);
    std::abort();
  }
  fmt::print(stderr, "{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.\n", file, line,
             function, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, assertion);
  warpline::cuda::stop_kernel(cudaErrorAssert, "assert",
                              fmt::format("`{}` failed at {}:{}", assertion, file, line));
}
