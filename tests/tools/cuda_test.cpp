// Target `cuda` from outside: what the program says where something is missing, and that every CUDA kernel
// that `emu` runs was compiled for GPUs as well. No test here needs a GPU; the op and kernel tests walk
// `cuda` beside the other devices where there is one.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "engine/context.h"
#include "engine/safetensors.h"
#include "engine/tensor.h"
#include "kernels/cuda/runtime.h"
#include "kernels/cuda/support.h"
#include "kernels/error.h"
#include "kernels/table.h"
#include "tests/support/errors.h"
#include "tests/support/run_program.h"
#include "tests/support/skip.h"
#include "tests/support/temporary_folder.h"

using namespace warpline;
using Catch::Matchers::Contains;
using test::run_program;

namespace {

bool has_gpu() { return !cuda::support().gpus.empty(); }
bool is_built() { return !kernels::cuda_rows().empty(); }

// "max_kernel<float, WarpTeam>" for each kernel that the lines, demangled symbols, name in the target's
// namespace.
std::set<std::string> kernels_of(const std::string& target, const std::string& lines) {
  const std::string scope = "::" + target + "::";
  const std::regex name(scope + R"(\(anonymous namespace\)::(\w+_kernel\b))");
  std::set<std::string> kernels;
  for (std::sregex_iterator match(lines.begin(), lines.end(), name), end; match != end; ++match) {
    auto last = match->suffix().first;
    int open = 0;
    do {
      open += *last == '<' ? 1 : *last == '>' ? -1 : 0;
      if (open > 0 || *last == '>') ++last;
    } while (open > 0 && last != lines.end());
    std::string text = (*match)[1].str() + std::string(match->suffix().first, last);
    for (std::size_t at; (at = text.find(scope)) != std::string::npos;) text.erase(at, scope.size());
    kernels.insert(text);
  }
  return kernels;
}

std::set<std::string> missing_in(const std::set<std::string>& have, const std::set<std::string>& wanted) {
  std::set<std::string> missing;
  std::set_difference(wanted.begin(), wanted.end(), have.begin(), have.end(),
                      std::inserter(missing, missing.end()));
  return missing;
}

std::string symbols() {
  const auto result = run_program(fmt::format("nm --demangle '{}'", WARPLINE_PROGRAM));
  REQUIRE(result.status == 0);
  return result.out;
}

}  // namespace

TEST_CASE("a profiler is told of plan actions and of the ops in them", "[cuda]") {
  if (!is_built()) SKIP_TEST(cuda::support().missing);
  const auto result = run_program(fmt::format(
      "NVTX_INJECTION64_PATH='{}/tests/libnvtx_listener.so' '{}' train --data builtin --model mlp "
      "--steps 1 --batch-size 4 --micro-batches 2 --strategy pipeline --stages 2 --device cpu",
      WARPLINE_BUILD_ROOT, WARPLINE_PROGRAM));
  REQUIRE(result.status == 0);
  // Two ranks at once: each line is written whole, lines of the two are mixed.
  std::map<std::string, int> ranges;
  std::istringstream lines(result.errors);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("range ", 0) == 0) ++ranges[line.substr(6)];
  }
  for (const char* action : {"0F0", "0F1", "1F0", "1F1", "0B0", "0B1", "1B0", "1B1", "0>1a0#0", "0<1g1#2"}) {
    INFO(action);
    CHECK(ranges[action] == 1);
  }
  CHECK(ranges["  relu_forward"] == 4);  // two layers, two micro-batches
  CHECK(ranges["  gemm"] == 2 * 8);
  CHECK(ranges["  sgd_step"] == 6);
}

TEST_CASE("--device cuda says what is missing, and nothing is written", "[cuda]") {
  if (has_gpu()) SKIP_TEST("there is a GPU");
  const test::TemporaryFolder folder;
  Context context({DeviceKind::Ref, 0});
  SafetensorsFile in;
  in.tensors = {to_host_tensor("input", Tensor::from_host<float>(context, {1.0F}, {1}))};
  write_safetensors(folder / "in", in);
  const std::string out = folder / "out";
  for (const std::string& command :
       {fmt::format("train --data builtin --steps 1 --json '{}'", out),
        fmt::format("infer --data builtin --random --batches 1 --json '{}'", out),
        fmt::format("op relu '{}' '{}'", folder / "in", out)}) {
    const auto result = run_program(fmt::format("'{}' {} --device cuda", WARPLINE_PROGRAM, command));
    INFO(command << ": " << result.errors);
    CHECK(result.status == 2);
    CHECK_THAT(result.errors, Contains("[cuda]") && Contains(cuda::support().missing));
    CHECK_THAT(result.errors, Contains("--device emu"));
    CHECK(!std::filesystem::exists(out));
  }
  CHECK_THAT(test::error_of<DeviceError>([] { runtime(DeviceKind::Cuda); }), Contains("[cuda]"));
  fmt::print("[cuda] missing here: {}\n", cuda::support().missing);
}

TEST_CASE("more than one rank on cuda needs NCCL, which is not there yet", "[cuda]") {
  const auto result =
      run_program(fmt::format("'{}' train --device cuda --strategy data --steps 1", WARPLINE_PROGRAM));
  CHECK(result.status == 2);
  CHECK_THAT(result.errors, Contains("[backend]") && Contains("not 2") && Contains("NCCL"));
}

TEST_CASE("cuda has the rows of emu", "[cuda]") {
  if (!is_built()) SKIP_TEST(cuda::support().missing);
  std::set<std::tuple<std::string_view, std::string_view, DType>> cuda, emu;
  for (const kernels::Row& row : kernels::cuda_rows()) cuda.emplace(row.op, row.variant, row.dtype);
  for (const kernels::Row& row : kernels::emu_rows()) emu.emplace(row.op, row.variant, row.dtype);
  CHECK(cuda == emu);
}

TEST_CASE("nvcc compiled every kernel that emu has", "[cuda]") {
  if (!is_built()) SKIP_TEST(cuda::support().missing);
  const std::string all = symbols();
  const auto emu = kernels_of("on_emu", all), launched = kernels_of("on_cuda", all);
  CHECK(missing_in(launched, emu) == std::set<std::string>{});
  CHECK(emu.size() > 100);
  fmt::print("[cuda] nvcc compiled {} kernels, emu has {}\n", launched.size(), emu.size());
}

TEST_CASE("the program's device code has every kernel that emu has", "[cuda]") {
  if (!is_built()) SKIP_TEST(cuda::support().missing);
  const auto found =
      run_program(R"(PATH=$PATH:$CUDA_HOME/bin:$CUDA_PATH/bin:/usr/local/cuda/bin; command -v cuobjdump)");
  if (found.status != 0) SKIP_TEST("there is no cuobjdump, which comes with the CUDA Toolkit");
  const std::string cuobjdump = found.out.substr(0, found.out.find('\n'));
  const auto listed =
      run_program(fmt::format("'{}' -symbols '{}' | grep STO_ENTRY | c++filt", cuobjdump, WARPLINE_PROGRAM));
  REQUIRE(listed.status == 0);
  const auto device = kernels_of("on_cuda", listed.out);
  CHECK(missing_in(device, kernels_of("on_emu", symbols())) == std::set<std::string>{});
  fmt::print("[cuda] device code for {} kernels\n", device.size());
}

TEST_CASE("a page shows what each kernel uses of a GPU", "[cuda]") {
  if (!is_built()) SKIP_TEST(cuda::support().missing);
  const test::TemporaryFolder folder;
  const std::string page = folder / "page.md", arch = cuda::support().architectures;
  const auto tool = [&](const std::string& more) {
    return run_program(fmt::format("'{}/tools/kernel_resources' --build '{}' --page '{}' --arch {} {}",
                                   WARPLINE_SOURCE_ROOT, WARPLINE_BUILD_ROOT, page,
                                   arch.substr(0, arch.find(',')), more));
  };
  std::ofstream(page) << "no markers\n";
  CHECK_THAT(tool("").errors, Contains("one block between markers is wanted, there are 0"));
  std::ofstream(page) << "<!-- resources: tools/kernel_resources -->\n<!-- end -->\n";
  CHECK_THAT(tool("--check").errors, Contains("out of date: page.md"));
  const auto written = tool("");
  INFO(written.errors);
  CHECK(written.status == 0);
  CHECK(tool("--check").status == 0);
  std::stringstream text;
  text << std::ifstream(page).rdbuf();
  CHECK_THAT(text.str(), Contains("| gemm_1_naive.cu | `gemm_naive_kernel<float>` |"));
  CHECK_THAT(text.str(), !Contains("double"));
}

// So that tools/test says it, as a skip: elsewhere a missing device is only left out.
TEST_CASE("the op and kernel tests ran on cuda", "[cuda]") {
  if (!has_gpu()) SKIP_TEST("the CUDA suite did not run: " + cuda::support().missing);
  Context context({DeviceKind::Cuda, 0});
  CHECK(Tensor::full(context, {3}, 2.0).to_host<float>() == std::vector<float>(3, 2.0F));
}
