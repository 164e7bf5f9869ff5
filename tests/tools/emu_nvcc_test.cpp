// CUDA programs through tools/emu-nvcc: compiled, run fast and checked, refused by name.
#include <fstream>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

using Catch::Matchers::Contains;
using warpline::test::ProgramResult;
using warpline::test::run_program;
using warpline::test::TemporaryFolder;

namespace {

ProgramResult compile(const std::string& arguments) {
  return run_program(fmt::format("'{}/tools/emu-nvcc' --build '{}' {}", WARPLINE_SOURCE_ROOT,
                                 WARPLINE_BUILD_ROOT, arguments));
}

}  // namespace

TEST_CASE("a CUDA program runs fast and checked, and each fault is reported", "[emu][nvcc]") {
  const TemporaryFolder folder;
  const std::string program = folder / "program";
  const char* const right = "cudaSuccess: 765 0 2997, sum 1.4985e+06\ncudaErrorInvalidConfiguration\n";
  const char* const checks[] = {"", "memcheck: global memory", "racecheck: ", "synccheck: "};
  const char* const lines[] = {"", "basics.cu:16", "basics.cu:24", "basics.cu:23"};
  for (int fault = 0; fault < 4; ++fault) {
    INFO("fault " << fault);
    const ProgramResult compiled = compile(fmt::format("-DFAULT={} '{}/tests/emu_nvcc/basics.cu' -o '{}'",
                                                       fault, WARPLINE_SOURCE_ROOT, program));
    INFO(compiled.errors);
    REQUIRE(compiled.status == 0);
    const ProgramResult checked = run_program(fmt::format("WARPLINE_CHECK=1 '{}'", program));
    if (fault == 0) {
      const ProgramResult fast = run_program(fmt::format("'{}'", program));
      CHECK(fast.status == 0);
      CHECK(fast.out == right);
      CHECK(checked.out == right);
    } else {
      CHECK_THAT(checked.errors, Contains(checks[fault]) && Contains(lines[fault]));
    }
    CHECK(checked.status == 1);  // a refused launch is a report as well
    CHECK_THAT(checked.errors, fault == 0 ? Contains("launch: [emu] launch of sum") : Contains("reports"));
  }
}

TEST_CASE("what is not emulated is named with its line; bad use is exit 2", "[emu][nvcc]") {
  const TemporaryFolder folder;
  const std::string source = folder / "my.cu";
  std::ofstream(source)
      << "__global__ void k(float* x) {\n  x[0] = tex2D<float>(0, 0, 0);\n}\nint main() {}\n";
  const ProgramResult refused = compile(fmt::format("'{}' -o '{}'", source, folder / "my"));
  CHECK(refused.status == 1);
  CHECK_THAT(refused.errors, Contains("my.cu:2: error: 'tex2D'") && Contains("textures"));
  CHECK(compile("--unheard-of '" + source + "'").status == 2);
  CHECK(compile("'" + (folder / "none.cu") + "'").status == 2);
  const ProgramResult unbuilt = compile(fmt::format("--build '{}' '{}'", folder / "none", source));
  CHECK(unbuilt.status == 2);
  CHECK_THAT(unbuilt.errors, Contains("emu-nvcc"));
}
