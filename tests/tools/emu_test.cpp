// The CUDA kernels from the program: `--device emu` learns what `cpu` learns, every strategy ends with the
// same bits, and
// `--check` finds nothing to report.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "tests/support/run_json.h"

using Catch::Matchers::Contains;
using warpline::test::read_json;
using warpline::test::run_json;
using warpline::test::run_program;
using warpline::test::TemporaryFolder;

namespace {

nlohmann::json train_json(const std::string& arguments) {
  return run_json("train --data builtin " + arguments);
}

}  // namespace

TEST_CASE("20 steps on emu lose what they lose on cpu, within 1e-4", "[emu][train]") {
  const std::string common = "--steps 20 --batch-size 32 --threads 2";
  const auto cpu = train_json(common)["losses"].get<std::vector<double>>();
  const auto emu = train_json(common + " --device emu")["losses"].get<std::vector<double>>();
  REQUIRE(cpu.size() == 20);
  REQUIRE(emu.size() == 20);
  double most = 0;
  for (std::size_t i = 0; i < cpu.size(); ++i) most = std::max(most, std::abs(cpu[i] - emu[i]));
  fmt::print("[emu] losses of 20 steps differ from cpu by at most {:.1e}\n", most);
  CHECK(most <= 1e-4);
}

TEST_CASE("every strategy ends with the bits of serial on emu, in any order", "[emu][train]") {
  const std::string common = "--deterministic --steps 4 --batch-size 16 --device emu ";
  const nlohmann::json serial = train_json(common + "--threads 1");
  const std::vector<std::string> strategies{
      "--threads 2 --order-seed 1",
      "--strategy data --data-parallel 2",
      "--strategy data --data-parallel 4 --order-seed 2",
      "--strategy layer --stages 2 --order-seed 3",
      "--strategy pipeline --stages 2",
      "--strategy pipeline --stages 4 --order-seed 4",
      "--strategy pipeline --stages 2 --schedule 1f1b --order-seed 5",
      "--strategy hybrid --data-parallel 2 --stages 2 --order-seed 6",
  };
  std::size_t same = 0;
  for (const std::string& strategy : strategies) {
    INFO(strategy);
    const nlohmann::json run = train_json(common + strategy);
    const bool equal =
        run["parameters_sha256"] == serial["parameters_sha256"] && run["losses"] == serial["losses"];
    CHECK(equal);
    same += equal ? 1 : 0;
  }
  fmt::print("[emu] {} of {} strategies end with serial's bits\n", same, strategies.size());
}

TEST_CASE("a checked step of training reports nothing and changes nothing", "[emu][check][train]") {
  const std::string common = "--model mlp --steps 2 --batch-size 8 --deterministic --threads 1 --device emu ";
  const nlohmann::json fast = train_json(common);
  for (const char* how : {"--check", "--check --strategy pipeline --stages 2 --order-seed 3"}) {
    INFO(how);
    const nlohmann::json checked = train_json(common + how);  // status 0: no report
    CHECK(checked["parameters_sha256"] == fast["parameters_sha256"]);
    CHECK(checked["flags"]["check"] == true);
  }
}

TEST_CASE("what WARPLINE_CHECK does not know is refused", "[emu][check]") {
  for (const char* variable : {"WARPLINE_CHECK", "WARPLINE_PROFILE"}) {
    const auto run =
        run_program(fmt::format("{}=yes '{}' train --data builtin --model mlp --steps 1 "
                                "--device emu",
                                variable, WARPLINE_PROGRAM));
    CHECK(run.status == 2);
    CHECK_THAT(run.errors, Contains(variable) && Contains("'yes'"));
  }
}

TEST_CASE("WARPLINE_CHECK=1 asks for the checks of emu, and of nothing else", "[emu][check]") {
  for (const auto& [device, checked] : {std::pair{"emu", true}, std::pair{"cpu", false}}) {
    const TemporaryFolder folder;
    const std::string file = folder / "run.json";
    const auto result =
        run_program(fmt::format("WARPLINE_CHECK=1 '{}' train --data builtin --model mlp --steps 1 "
                                "--batch-size 4 --device {} --json '{}'",
                                WARPLINE_PROGRAM, device, file));
    INFO(result.errors);
    REQUIRE(result.status == 0);
    CHECK(read_json(file)["flags"]["check"] == checked);
  }
}

TEST_CASE("--check is for emu", "[emu][check]") {
  const auto refused =
      run_program(fmt::format("'{}' train --data builtin --steps 1 --check", WARPLINE_PROGRAM));
  CHECK(refused.status == 2);
  CHECK_THAT(refused.errors, Contains("--check") && Contains("use --device emu"));
}
