// `warpline bench kernels`: every row is checked and timed; a wrong result is found, and not timed.
#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "kernels/error.h"
#include "kernels/table.h"
#include "tests/support/run_json.h"
#include "tests/support/temporary_folder.h"
#include "tools/kernel_bench.h"
#include "tools/kernel_check.h"
#include "tools/kernel_problems.h"
#include "tools/peers/peer.h"

using Catch::Matchers::Contains;
using namespace warpline;
using namespace warpline::tools;
using warpline::test::run_json;
using warpline::test::run_program;

namespace {

auto bench(const std::string& arguments) {
  return run_program(std::string("'") + WARPLINE_PROGRAM + "' bench " + arguments);
}

// Results of a kernel that is right but for one element of one operand.
template <class T>
std::string difference(const std::string& op, const std::string& shape, std::size_t operand,
                       std::size_t element, T value) {
  const Problem problem = make_problem(op, shape);
  const Outputs right = reference_outputs(problem);
  CHECK(first_difference(problem, right, right) == "");
  Outputs wrong = right;
  std::memcpy(&wrong.at(operand).at(element * sizeof(T)), &value, sizeof(T));
  return first_difference(problem, wrong, right);
}

const Stream kRef{{DeviceKind::Ref, 0}};

}  // namespace

TEST_CASE("every row is right and timed, at small shapes", "[bench][tools]") {
  for (const DeviceKind kind : {DeviceKind::Cpu, DeviceKind::Emu}) {
    const std::string device(to_string(kind));
    const nlohmann::json json = run_json("bench kernels --quick --device " + device);
    const nlohmann::json& kernels = json["kernels"];
    int rows = 0, shown = 0;
    for (const kernels::Row& row : kernels::table()) {
      const bool wanted = row.dtype == DType::Float32 || row.op == kernels::MaxPool2dIndices::name;
      if (row.target != kind || !wanted) continue;
      INFO(device << ": " << row.op << "/" << row.variant);
      const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const nlohmann::json& entry) {
        return entry["op"] == row.op && entry["variant"] == row.variant;
      });
      ++rows;
      CHECK(found != kernels.end());
      shown += found != kernels.end() ? 1 : 0;
    }
    for (const nlohmann::json& entry : kernels) {
      INFO(entry.dump());
      CHECK(entry["right"] == true);
      CHECK(entry["seconds"] > 0);
      CHECK(entry["bytes"] > 0);
      CHECK(entry["repeats"] == 1);
    }
    CHECK(json["rows"] == rows);
    CHECK(json["rows_measured"] == rows);
    fmt::print("{}: {} of {} rows are right and timed, {} results\n", device, shown, rows, kernels.size());
  }
}

TEST_CASE("a variant can be timed alone", "[bench][tools]") {
  const nlohmann::json json = run_json("bench kernels --quick --device emu gemm/naive");
  CHECK(json["rows"] == 1);
  REQUIRE(!json["kernels"].empty());
  for (const nlohmann::json& entry : json["kernels"]) CHECK(entry["variant"] == "naive");
}

TEST_CASE("a result that is not ref's is found, with its place", "[bench][tools]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK_THAT(difference("gemm", "7x5x3", 2, 34, 9.0F), Contains("element 34 of operand 2 is 9, ref has"));
  CHECK_THAT(difference("gemm", "7x5x3", 2, 0, nan), Contains("element 0 of operand 2 is nan"));
  CHECK_THAT(difference("fill", "10", 0, 9, 0.50001F), Contains("element 9 of operand 0"));
  CHECK_THAT(difference("max", "4x30", 2, 3, std::int64_t{30}), Contains("element 3 of operand 2 is 30"));
  CHECK_THAT(difference("max_pool2d_forward", "3x4x2", 2, 5, std::uint8_t{4}),
             Contains("element 5 of operand 2 is 4"));
}

TEST_CASE("a result may differ by rounding only", "[bench][tools]") {
  const Problem problem = make_problem("gemm", "4x4x100");
  const Outputs right = reference_outputs(problem);
  Outputs rounded = right;
  float value = 0;
  std::memcpy(&value, &rounded[2][20], sizeof value);
  const float within = value + static_cast<float>(problem.tolerance) / 2;
  std::memcpy(&rounded[2][20], &within, sizeof value);
  CHECK(first_difference(problem, rounded, right) == "");
  const float beyond = value + static_cast<float>(problem.tolerance) * 2;
  std::memcpy(&rounded[2][20], &beyond, sizeof value);
  CHECK_THAT(first_difference(problem, rounded, right), Contains("element 5 of operand 2"));
}

TEST_CASE("a wrong kernel is not timed", "[bench][tools]") {
  const Problem problem = make_problem("relu_forward", "100");
  const Outputs right = reference_outputs(problem);
  int calls = 0;
  // ReLU that forgets the last element.
  const Measurement wrong = measure(
      problem, right, kRef,
      [&](const std::vector<void*>& pointers) {
        ++calls;
        const auto* x = static_cast<const float*>(pointers[0]);
        auto* y = static_cast<float*>(pointers[1]);
        for (int i = 0; i < 99; ++i) y[i] = std::max(x[i], 0.0F);
      },
      1);
  CHECK_THAT(wrong.wrong, Contains("element 99 of operand 1"));
  CHECK(calls == 1);
  CHECK(wrong.repeats == 0);
}

TEST_CASE("operands of the same size differ, and follow the seed", "[bench][tools]") {
  const auto operands = [](std::uint64_t seed) { return make_problem("gemm", "8x8x8", seed).operands; };
  CHECK(operands(1)[0].values != operands(1)[1].values);
  CHECK(operands(1)[0].values == operands(1)[0].values);
  CHECK(operands(1)[0].values != operands(2)[0].values);
}

TEST_CASE("the emulator's times are called the emulator's", "[bench][tools]") {
  const auto emulated = bench("kernels fill --quick --device emu --threads 1");
  CHECK(emulated.status == 0);
  CHECK_THAT(emulated.out, Contains("the emulator's own") && Contains("nothing about a GPU"));
  CHECK_THAT(emulated.out, Contains("fill/grid_stride") && Contains("1 of 1 rows, 2 results"));
  const auto native = bench("kernels fill gemm --quick --threads 1");
  CHECK_THAT(native.out, Contains("cpu:0, threads: 1") && Contains("gemm/tiles") && Contains("2 of 2 rows"));
  CHECK_THAT(native.out, !Contains("emulator"));
}

TEST_CASE("rows that are for no shape asked for are named", "[bench][tools]") {
  const auto result = bench("kernels gemm --device emu --shape 5x6x7 --min-time 0.001");
  CHECK(result.status == 0);
  CHECK_THAT(result.out, Contains("5 of 7 rows, 5 results; not for these shapes: gemm/vector_loads, "
                                  "gemm/split_k"));
}

TEST_CASE("a build without cuBLAS and cuDNN says why", "[bench][tools]") {
  CHECK_THROWS_WITH(open_cublas(kRef),
                    "[cublas] this build has no cuBLAS to compare with: a test left it out");
  CHECK_THROWS_WITH(open_cudnn(kRef), "[cudnn] this build has no cuDNN to compare with: a test left it out");
  CHECK_THROWS_AS(open_cudnn(kRef), DeviceError);
}

TEST_CASE("what cannot be timed is refused", "[bench][tools]") {
  const auto refused = [](const std::string& arguments, const std::string& words) {
    INFO(arguments);
    const auto run = bench(arguments);
    CHECK(run.status == 2);
    CHECK_THAT(run.errors, Contains(words));
    CHECK(run.out.empty());
  };
  refused("", "subcommand");
  refused("kernel", "subcommand");
  refused("kernels gem", "there are gemm, conv2d_forward");
  refused("kernels gemm/fast", "gemm has no variant 'fast' on cpu; there are");
  refused("kernels --shape 8x8x8", "name it");
  refused("kernels gemm fill --shape 8x8x8", "name it");
  refused("kernels gemm --shape 8x8", "takes m x n x k");
  refused("kernels add --shape 8x4x3", "as many rows as a, 8, or one; got 3");
  refused("kernels gemm --min-time 0", "--min-time");
  refused("kernels gemm --min-time nan", "--min-time");
  refused("kernels gemm --min-time 61", "--min-time");
  refused("kernels gemm --threads 0", "--threads");
  refused("kernels gemm --seed -1", "--seed");
  refused("kernels gemm --device tpu", "tpu");
  CHECK(bench("kernels gemm --quick --device emu:64").status == 2);
  const test::TemporaryFolder folder;
  refused("kernels gemm --quick --json '" + (folder / "none/run.json") + "'", "none/run.json");
}
