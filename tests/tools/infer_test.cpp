// `warpline infer`: the same outputs however the model is split, several batches in flight, and one image
// shown.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "models/model.h"
#include "parallel/layout.h"
#include "parallel/tokens.h"
#include "tests/support/run_json.h"

using namespace warpline;
using warpline::test::ProgramResult;

namespace {

constexpr int kBatches = 40;

ProgramResult infer(const std::string& arguments) {
  return test::run_program(fmt::format("'{}' infer {}", WARPLINE_PROGRAM, arguments));
}

// `split` is a strategy and its counts.
nlohmann::json infer_json(const std::string& split) {
  return test::run_json(
      fmt::format("infer --random --batches {} --batch-size 8 --threads 1 {}", kBatches, split));
}

// A batch is in flight from the start of its forward on the first stage to the end of that on the last one.
// The most batches that were at once, by the times of a trace.
int most_in_flight(const nlohmann::json& trace, int stages) {
  std::vector<std::pair<double, int>> changes;  // at which time, by how many
  const std::string first = "0F", last = fmt::format("{}F", stages - 1);
  for (const nlohmann::json& event : trace["traceEvents"]) {
    const std::string name = event["name"];
    if (name.starts_with(first)) changes.emplace_back(event["ts"].get<double>(), 1);
    if (name.starts_with(last)) {
      changes.emplace_back(event["ts"].get<double>() + event["dur"].get<double>(), -1);
    }
  }
  REQUIRE(changes.size() == 2 * kBatches);
  std::sort(changes.begin(), changes.end());  // of one microsecond, what leaves goes first
  int now = 0, most = 0;
  for (const auto& [time, by] : changes) most = std::max(most, now += by);
  return most;
}

// What each rank of a pipeline over all batches does by its plan.
std::vector<std::vector<std::string>> planned(int stages) {
  const Model model = make_net();
  const std::vector<double> costs = parallel::estimate_costs(model.layers, model.sample_shape);
  parallel::Layout layout;
  layout.ranks = stages;
  const parallel::Plan plan = parallel::inference_plan(
      layout,
      parallel::cut_model(model.layers, model.sample_shape, costs, parallel::cut_by_cost(costs, stages)),
      kBatches);
  std::vector<std::vector<std::string>> ranks;
  for (const std::vector<parallel::Action>& list : plan.per_rank) {
    ranks.emplace_back();
    for (const parallel::Action& action : list) ranks.back().push_back(to_token(action));
  }
  return ranks;
}

}  // namespace

TEST_CASE("a stream of batches has the same outputs however it is split", "[infer]") {
  std::set<std::string> hashes;
  const std::map<std::string, int> splits = {{"", 1},
                                             {"--strategy layer --stages 2", 2},
                                             {"--strategy pipeline --stages 2", 2},
                                             {"--strategy pipeline --stages 4", 4}};
  for (const auto& [split, stages] : splits) {
    CAPTURE(split);
    const nlohmann::json run = infer_json(split);
    CHECK(run["batches"] == kBatches);
    hashes.insert(run["output_sha256"].get<std::string>());
    const std::vector<std::vector<std::string>> plan = planned(stages);
    REQUIRE(run["ranks"].size() == plan.size());
    for (std::size_t r = 0; r < plan.size(); ++r) {
      CHECK(run["ranks"][r]["actions"].get<std::vector<std::string>>() == plan[r]);
    }
  }
  hashes.insert(infer_json("--strategy data")["output_sha256"].get<std::string>());
  CHECK(hashes.size() == 1);
}

TEST_CASE("a long stream holds no more than a short one", "[infer]") {
  // The second rank of three computes most, the first one would run ahead.
  for (const char* mode : {"rendezvous", "bounded"}) {
    const nlohmann::json run = test::run_json(fmt::format(
        "infer --random --batches 400 --batch-size 8 --threads 1 --strategy pipeline --stages 3 --cut "
        "pool1,fc1 --send-mode {}",
        mode));
    for (const nlohmann::json& rank : run["ranks"]) {
      const std::int64_t messages = rank["messages_sent"];
      const std::int64_t size = rank["bytes_sent"].get<std::int64_t>() / std::max<std::int64_t>(1, messages);
      CAPTURE(mode, rank["rank"].get<int>(), size);
      CHECK(rank["peak_activation_bytes"] < 25 * size + (1 << 20));
    }
  }
}

TEST_CASE("several batches are in flight at once", "[infer]") {
  for (const int stages : {2, 4}) {
    const test::TemporaryFolder folder;
    const std::string file = folder / "trace.json";
    infer_json(fmt::format("--strategy pipeline --stages {} --trace '{}'", stages, file));
    const int most = most_in_flight(test::read_json(file), stages);
    fmt::print("{} stages: at most {} of {} batches in flight at once\n", stages, most, kBatches);
    CHECK(most >= 2);
  }
}

TEST_CASE("one image is drawn with its probabilities", "[infer]") {
  const ProgramResult result = infer("--index 3 --data builtin");
  CHECK(result.status == 0);
  CHECK(result.out.find("test image 3 (builtin)") != std::string::npos);
  CHECK(result.out.find("\n9 ") != std::string::npos);
}

TEST_CASE("inference refuses what it cannot do", "[infer]") {
  for (const char* arguments :
       {"", "--random --index 1", "--random --batches 0", "--index -1 --data builtin",
        "--index 10000 --data builtin", "--random --micro-batches 2", "--random --schedule gpipe",
        "--random --deterministic", "--random --chunks 1", "--random --data builtin", "--random --data-dir .",
        "--index 1 --json x", "--random --checkpoint /nonexistent"}) {
    INFO(arguments);
    CHECK(infer(arguments).status == 2);
  }
}

TEST_CASE("inference offers no flag that only training uses", "[infer]") {
  const ProgramResult help = infer("--help");
  CHECK(help.status == 0);
  CHECK(help.out.find("--stages") != std::string::npos);
  for (const char* flag : {"--micro-batches", "--schedule", "--deterministic", "--chunks", "--lr"}) {
    INFO(flag);
    CHECK(help.out.find(flag) == std::string::npos);
  }
  const nlohmann::json flags = infer_json("")["flags"];
  CHECK(flags.contains("stages"));
  for (const char* flag : {"micro_batches", "schedule", "deterministic", "chunks", "data"}) {
    INFO(flag);
    CHECK(!flags.contains(flag));
  }
}
