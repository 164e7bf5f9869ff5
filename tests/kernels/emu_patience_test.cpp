// A kernel that does not end is ended, with a reason, and the program goes on.
#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>

#include "kernels/emu/cuda.h"
#include "kernels/emu/grid.h"
#include "kernels/emu/launch.h"
#include "kernels/runtime.h"
#include "kernels/thread_pool.h"

using namespace warpline;
using namespace warpline::emu;
using Catch::Matchers::Contains;

namespace {

// Before the first launch reads it.
const int patient = setenv("WARPLINE_EMU_PATIENCE", "2", 1);

#ifdef __SANITIZE_THREAD__
constexpr bool kInterrupts = false;  // ThreadSanitizer keeps signals back
#else
constexpr bool kInterrupts = true;
#endif

// Thread 1 never gets there.
void wait_for_each_other(volatile int* flag) {
  if (threadIdx.x == 1) *flag = 1;
  while (*flag == 0) {
  }
}

void circle(volatile int* flag) {
  while (*flag == 0) barrier(Site{__FILE__, __LINE__});
}

void add_one(volatile int* flag) { *flag = *flag + 1; }

template <auto Kernel>
std::string error_of(volatile int* flag, const Stream& stream) {
  *flag = 0;
  try {
    launch<Kernel>(dim3(1), dim3(2), 0, stream, flag);
    runtime(DeviceKind::Emu).synchronize(stream);
  } catch (const KernelTimeout& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("kernels that do not end are ended, and the next one runs", "[emu]") {
  REQUIRE(patient == 0);
  ThreadPool pool(1);
  const Device device{DeviceKind::Emu, 0};
  const Stream stream{.device = device, .pool = &pool, .native = runtime(device.kind).open_stream(0, &pool)};
  int flag = 0;
  CHECK_THAT(
      error_of<circle>(&flag, stream),
      Contains("thread (0, 0, 0) meets another barrier or warp primitive when its block has run for 20 s") ||
          Contains("thread (1, 0, 0) meets another barrier"));
  if (kInterrupts) {
    CHECK_THAT(error_of<wait_for_each_other>(&flag, stream),
               Contains("thread (0, 0, 0) has run for 2 s without meeting a barrier"));
  }
  CHECK(error_of<add_one>(&flag, stream).empty());
  CHECK(flag == 2);
  runtime(device.kind).close_stream(stream.native);
}
