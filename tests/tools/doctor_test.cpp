// `warpline doctor`: what there is, by name, and how to get what is missing.
#include <string>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "tests/support/run_program.h"

using Catch::Matchers::Contains;
using warpline::test::ProgramResult;

namespace {

ProgramResult doctor(const std::string& environment) {
  return warpline::test::run_program(fmt::format("{} '{}' doctor", environment, WARPLINE_PROGRAM));
}

}  // namespace

TEST_CASE("the doctor names devices, libraries, compilers, back ends, schedules and data", "[doctor]") {
  const ProgramResult result = doctor("WARPLINE_DATA= ");
  INFO(result.out << result.errors);
  CHECK(result.status == 0);
  for (const char* name :
       {"ref ", "cpu ", "zlib", "libcrypto", "compilers", "local", "gpipe", "1f1b", "data"}) {
    CHECK_THAT(result.out, Contains(name));
  }
  CHECK_THAT(result.out, Contains("a C++20 program compiles, links and runs"));
  CHECK_THAT(result.out, Contains("emulated devices; runs kernels"));
  if (result.out.find("nvcc       none") == std::string::npos)
    CHECK_THAT(result.out, Contains("a CUDA program compiles"));
}

TEST_CASE("the doctor says what is missing and how to get it", "[doctor]") {
  const ProgramResult result = doctor("PATH=/nonexistent WARPLINE_DATA=/nonexistent");
  INFO(result.out << result.errors);
  CHECK(result.status == 0);
  CHECK_THAT(result.out, Contains("none; to build warpline or against it: apt-get install g++"));
  CHECK_THAT(result.out, Contains("unusable: ") && Contains("/nonexistent"));
}
