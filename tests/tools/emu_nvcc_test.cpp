// CUDA programs through tools/emu-nvcc: compiled, run fast and checked, refused by name.
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

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

// A program of tests/emu_nvcc, which has to compile.
void build(const std::string& source, const std::string& program, const std::string& options = "") {
  const ProgramResult compiled = compile(
      fmt::format("{} '{}/tests/emu_nvcc/{}' -o '{}'", options, WARPLINE_SOURCE_ROOT, source, program));
  INFO(compiled.errors);
  REQUIRE(compiled.status == 0);
}

std::string text_of(const std::string& file) {
  std::ifstream stream(fmt::format("{}/{}", WARPLINE_SOURCE_ROOT, file));
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

TEST_CASE("the program of the README", "[emu][nvcc]") {
  const TemporaryFolder folder;
  const std::string source = fmt::format("{}/tests/emu_nvcc/square.cu", WARPLINE_SOURCE_ROOT);
  const std::string object = folder / "square.o", program = folder / "square";
  // In two steps, with options as people write them for nvcc.
  const ProgramResult compiled = compile(
      fmt::format("-O3 -std=c++14 -arch=sm_80 -Xcompiler -Wall,-Werror -c '{}' -o '{}'", source, object));
  INFO(compiled.errors);
  REQUIRE(compiled.status == 0);
  CHECK_THAT(compiled.errors, Contains("an architecture has no effect"));
  REQUIRE(compile(fmt::format("'{}' -o '{}'", object, program)).status == 0);
  for (const char* check : {"0", "1"}) {
    const ProgramResult result = run_program(fmt::format("WARPLINE_CHECK={} '{}'", check, program));
    CHECK(result.status == 0);
    CHECK(result.out == "1 4 9 16\n");
    CHECK(result.errors.empty());
  }
  CHECK(run_program(fmt::format("WARPLINE_CHECK=yes '{}'", program)).status == 2);
  // Word for word, four blanks further in.
  std::string shown;
  std::string line;
  for (std::ifstream stream(source); std::getline(stream, line);)
    shown += (line.empty() ? "" : "      " + line) + "\n";
  CHECK_THAT(text_of("README.md"), Contains(shown));
}

TEST_CASE("WARPLINE_PROFILE=1 counts requests, barriers and branches of a program", "[emu][nvcc]") {
  const TemporaryFolder folder;
  const std::string program = folder / "counted";
  build("counted.cu", program);
  const ProgramResult result = run_program(fmt::format("WARPLINE_PROFILE=1 '{}'", program));
  CHECK(result.status == 0);
  CHECK(result.out == "0\n");
  INFO(result.errors);
  // 64 warps. Columns: global loads, stores, shared loads, stores, each requests and what one costs;
  // barriers, divergent branches.
  const auto counts = [&](const std::string& line) {
    const std::size_t begin = result.errors.find("counted.cu:" + line);
    REQUIRE(begin != std::string::npos);
    std::istringstream words(result.errors.substr(begin, result.errors.find('\n', begin) - begin));
    return std::vector<std::string>{std::istream_iterator<std::string>(words), {}};
  };
  CHECK(counts("7") ==
        std::vector<std::string>{"counted.cu:7", "64", "32.0", "-", "-", "-", "-", "64", "1.0", "0", "0"});
  CHECK(counts("8") ==
        std::vector<std::string>{"counted.cu:8", "-", "-", "-", "-", "-", "-", "-", "-", "16", "0"});
  CHECK(counts("10") ==
        std::vector<std::string>{"counted.cu:10", "64", "4.0", "-", "-", "-", "-", "-", "-", "0", "0"});
  CHECK_THAT(run_program(fmt::format("'{}'", program)).errors, !Contains("counted.cu"));
}

TEST_CASE("features of the device, and kernels that stop", "[emu][nvcc]") {
  const TemporaryFolder folder;
  const std::string program = folder / "features";
  build("features.cu", program);
  const std::string right = "128 6: 28 92 156 220, -1\ncudaErrorInvalidConfiguration\ncudaSuccess 42\n";
  for (const int check : {0, 1}) {
    const auto run = [&](const char* how) {
      return run_program(
          fmt::format("WARPLINE_EMU_PATIENCE=1 WARPLINE_CHECK={} '{}' {}", check, program, how));
    };
    const ProgramResult asserted = run("assert");
    CHECK(asserted.out == right + "device-side assert triggered\ncudaErrorAssert\n");
    CHECK_THAT(asserted.errors, Contains("features.cu:43: ") && Contains("Assertion `wait` failed."));
    CHECK(asserted.status == check);
    const ProgramResult spun = run("spin");
    CHECK(spun.out == right + "the launch timed out and was terminated\ncudaErrorLaunchTimeout\n");
    CHECK_THAT(
        spun.errors,
        Contains("patience: [emu] kernel stop, block (0, 0, 0), order seed 0: thread (0, 0, 0) has run"));
    CHECK(spun.status == 1);
    if (check == 1) continue;  // it takes its time
    const ProgramResult circled = run("circle");
    CHECK(circled.out == right + "the launch timed out and was terminated\ncudaErrorLaunchTimeout\n");
    CHECK_THAT(circled.errors, Contains("order seed 0: thread (") && Contains("meets another barrier"));
    CHECK(circled.status == 1);
  }
  for (const char* bad : {"WARPLINE_EMU_DEVICES=0", "WARPLINE_EMU_PATIENCE=x", "WARPLINE_EMU_MEMORY=1G"}) {
    const ProgramResult refused = run_program(fmt::format("{} '{}' assert", bad, program));
    CHECK(refused.status == 2);
    CHECK_THAT(refused.errors, Contains(" is a number from "));
  }
}

TEST_CASE("the host stays out of the device's memory, kernels within their constants", "[emu][nvcc]") {
  const TemporaryFolder folder;
  const std::string program = folder / "reach";
  build("reach.cu", program);
  const std::string right = "128\ncudaSuccess\ncudaErrorInvalidConfiguration\n";
  const auto run = [&](int check, const char* fault) {
    return run_program(fmt::format("WARPLINE_CHECK={} '{}' {}", check, program, fault));
  };
  CHECK(run(0, "none").out == right);
  CHECK(run(0, "none").status == 0);
  const ProgramResult checked = run(1, "none");
  CHECK(checked.out == right);
  CHECK(checked.status == 1);  // a refused launch is a report as well
  CHECK_THAT(checked.errors, Contains("launch of small") && Contains("========= 1 reports"));
  CHECK_THAT(run(1, "host").errors,
             Contains("memcheck: the host reads 4 bytes of device memory, at byte 0 of a block of 4 bytes") &&
                 Contains("reach.cu:64") && Contains("========= 2 reports"));
  const ProgramResult past = run(1, "past");
  CHECK_THAT(past.errors,
             Contains("memcheck: global memory weights, byte 64 of 64") && Contains("reach.cu:26"));
  CHECK(past.status == 1);
  CHECK_THAT(run(1, "odd").errors, Contains("memcheck: misaligned address") && Contains("reads 16 bytes") &&
                                       Contains("reach.cu:25"));
  CHECK_THAT(run(1, "global").errors,
             Contains("which is neither device nor shared memory") && Contains("reach.cu:25"));
}

TEST_CASE("a CUDA program runs fast and checked, and each fault is reported", "[emu][nvcc]") {
  const TemporaryFolder folder;
  const std::string program = folder / "program";
  const char* const right = "cudaSuccess: 765 0 2997, sum 1.4985e+06\ncudaErrorInvalidConfiguration\n";
  const char* const checks[] = {"", "memcheck: global memory", "racecheck: ", "synccheck: "};
  const char* const lines[] = {"", "basics.cu:16", "basics.cu:24", "basics.cu:23"};
  for (int fault = 0; fault < 4; ++fault) {
    INFO("fault " << fault);
    build("basics.cu", program, fmt::format("-DFAULT={}", fault));
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

TEST_CASE("host threads share the runtime; templates share dynamic memory; structs have gaps",
          "[emu][nvcc]") {
  const TemporaryFolder folder;
  const std::string program = folder / "shared";
  build("shared.cu", program);
  for (const int check : {0, 1}) {
    const ProgramResult result = run_program(fmt::format("WARPLINE_CHECK={} '{}'", check, program));
    INFO(result.errors);
    CHECK(result.status == 0);
    CHECK(result.out == "31 0\n1 29\n0 wrong, cudaSuccess\n");
  }
  // Into the array behind; by a kernel that nobody waits for.
  const ProgramResult past = run_program(fmt::format("WARPLINE_CHECK=1 '{}' past", program));
  CHECK(past.status == 1);
  CHECK_THAT(past.errors, Contains("memcheck: index 32 of 'float [32]'") && Contains("shared.cu:"));
}

TEST_CASE("a copy that another stream does not wait for is a race", "[emu][nvcc][check]") {
  const TemporaryFolder folder;
  const std::string program = folder / "copy_race";
  for (const bool waits : {true, false}) {
    build("copy_race.cu", program, waits ? "-DWAITS" : "");
    const ProgramResult result = run_program(fmt::format("WARPLINE_CHECK=1 '{}'", program));
    INFO(result.errors);
    CHECK(result.out == (waits ? "cudaSuccess\n" : "cudaErrorLaunchFailure\n"));
    CHECK((result.errors.find("racecheck: write after read") != std::string::npos) == !waits);
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
  std::ofstream(source) << "#include <thrust/sort.h>\nint main() {}\n";
  CHECK_THAT(compile(fmt::format("'{}'", source)).errors, Contains("my.cu:1: error: ") && Contains("Thrust"));
  std::ofstream(source)
      << "__global__ void a() {}\n__global__ void b() {\n  a<<<1, 1>>>();\n}\nint main() {}\n";
  CHECK_THAT(compile(fmt::format("'{}'", source)).errors,
             Contains("my.cu:3: error: ") && Contains("dynamic"));
  // Names that only look like it, and a comment in another encoding.
  std::ofstream(source)
      << "// caf\xe9\nint main() { float thrust = 0, texture = 0; return thrust + texture; }\n";
  CHECK(compile(fmt::format("'{}' -o '{}'", source, folder / "my")).status == 0);
  std::ofstream(source) << "__global__ void k(int) {}\nint main() {\n  k<<<1, 2>>(1);\n}\n";
  CHECK_THAT(compile(fmt::format("'{}'", source)).errors, Contains("my.cu:3: error: no >>> follows"));
  std::ofstream(source) << "int main() {}\n";
  const ProgramResult nowhere = compile(fmt::format("'{}' -o '{}'", source, folder / "none/my"));
  CHECK(nowhere.status == 1);
  CHECK_THAT(nowhere.errors, Contains("none/") && Contains("No such file"));
  const ProgramResult unchecked =
      compile(fmt::format("-Xcompiler -fsanitize=address '{}' -o '{}'", source, folder / "my"));
  CHECK(unchecked.status == 1);
  CHECK_THAT(unchecked.errors, Contains("-fsanitize=thread"));
  CHECK(compile("--unheard-of '" + source + "'").status == 2);
  CHECK(compile("'" + (folder / "none.cu") + "'").status == 2);
  const ProgramResult unbuilt = compile(fmt::format("--build '{}' '{}'", folder / "none", source));
  CHECK(unbuilt.status == 2);
  CHECK_THAT(unbuilt.errors, Contains("emu-nvcc"));
}
