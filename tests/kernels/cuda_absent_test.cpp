// The stub that a build without nvcc has in place of target `cuda`, linked into this test in any build.
#include <algorithm>

#include <catch2/catch.hpp>

#include "kernels/cuda/runtime.h"
#include "kernels/cuda/support.h"
#include "kernels/error.h"
#include "kernels/table.h"
#include "tests/support/errors.h"

using namespace warpline;
using Catch::Matchers::Contains;

TEST_CASE("a build without CUDA says what is missing and how to get it", "[cuda]") {
  CHECK(cuda::support().gpus.empty());
  CHECK(cuda::support().missing == WARPLINE_NO_CUDA);
  const auto says = Contains("[cuda] this build has no CUDA kernels: a test left it out") &&
                    Contains("-Dcuda=enabled") && Contains("--device emu");
  CHECK_THAT(test::error_of<DeviceError>([] { cuda::require_device(0); }), says);
  CHECK_THAT(test::error_of<DeviceError>([] { runtime(DeviceKind::Cuda); }), says);
}

TEST_CASE("a build without CUDA has no rows for it", "[cuda]") {
  const auto& rows = kernels::table();
  CHECK(std::none_of(rows.begin(), rows.end(),
                     [](const kernels::Row& row) { return row.target == DeviceKind::Cuda; }));
}
