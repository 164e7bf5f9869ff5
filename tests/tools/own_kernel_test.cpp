// "Your own kernel in ten minutes" of the README: a new row, from the shown text to the op's tests.
#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "tests/support/run_program.h"

using Catch::Matchers::Contains;

TEST_CASE("the README's variant of an op is found by that op's tests", "[docs][emu]") {
  const auto result = warpline::test::run_program(
      fmt::format("python3 '{}/tests/tools/own_kernel.py' '{}'", WARPLINE_SOURCE_ROOT, WARPLINE_BUILD_ROOT));
  INFO(result.errors);
  CHECK(result.status == 0);
  for (const char* dtype : {"float32", "float64", "uint32"})
    CHECK_THAT(result.out, Contains(fmt::format("relu_forward emu/one_each {}: 26 of 26 cases", dtype)));
}
