// `warpline train` really splits the work, read from the results that it writes: each rank holds a part of
// the model, sends what its strategy must and no more, and did what its plan says.
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "models/model.h"
#include "parallel/expected_traffic.h"
#include "parallel/layout.h"
#include "parallel/tokens.h"
#include "tests/support/run_json.h"

using namespace warpline;
using namespace warpline::parallel;

namespace {

constexpr std::int64_t kBatch = 61;  // blocks of two sizes
constexpr int kSteps = 3;
constexpr std::int64_t kParameters = 431080;

using Tokens = std::vector<std::string>;

struct Case {
  std::string flags;
  int replicas, ranks;
  std::string schedule;
  int micro_batches;  // that the fast mode chooses
};

const std::vector<Case> kCases = {
    {"", 1, 1, "gpipe", 1},
    {"--strategy data --data-parallel 2", 2, 1, "gpipe", 2},
    {"--strategy data --data-parallel 4", 4, 1, "gpipe", 4},
    {"--strategy layer --stages 2", 1, 2, "naive", 1},
    {"--strategy pipeline --stages 2", 1, 2, "gpipe", 4},
    {"--strategy pipeline --stages 2 --schedule 1f1b", 1, 2, "1f1b", 4},
    {"--strategy pipeline --stages 4", 1, 4, "gpipe", 4},
    {"--strategy pipeline --stages 4 --schedule 1f1b", 1, 4, "1f1b", 4},
    {"--strategy hybrid --data-parallel 2 --stages 2", 2, 2, "gpipe", 8},
    {"--strategy hybrid --data-parallel 2 --stages 2 --schedule 1f1b", 2, 2, "1f1b", 8},
};

nlohmann::json train(const std::string& flags) {
  return test::run_json(
      fmt::format("train --data builtin --threads 1 --batch-size {} --steps {} {}", kBatch, kSteps, flags));
}

Layout layout_of(const Case& c, bool deterministic) {
  Layout layout;
  layout.replicas = c.replicas;
  layout.ranks = c.ranks;
  layout.micro_batches = deterministic ? 4 : c.micro_batches;
  layout.schedule = c.schedule;
  layout.deterministic = deterministic;
  return layout;
}

Traffic traffic_of(const nlohmann::json& rank) {
  Traffic traffic;
  traffic.bytes_sent = rank["bytes_sent"];
  traffic.bytes_received = rank["bytes_received"];
  traffic.messages_sent = rank["messages_sent"];
  return traffic;
}

void check_traffic(const Traffic& traffic, std::int64_t sent, std::int64_t received, std::int64_t messages) {
  CHECK(traffic.bytes_sent == kSteps * sent);
  CHECK(traffic.bytes_received == kSteps * received);
  CHECK(traffic.messages_sent == kSteps * messages);
}

void check_parts(const nlohmann::json& run, const Case& c) {
  std::map<int, std::int64_t> held;  // by replica
  for (const nlohmann::json& rank : run["ranks"]) {
    const std::int64_t count = rank["parameter_count"];
    held[rank["replica"]] += count;
    CHECK((count < kParameters) == (c.ranks > 1));
  }
  CHECK(held.size() == static_cast<std::size_t>(c.replicas));
  for (const auto& [replica, count] : held) CHECK(count == kParameters);
}

Tokens tokens_of(const std::vector<Action>& list) {
  Tokens tokens;
  for (const Action& action : list) tokens.push_back(to_token(action));
  return tokens;
}

// Words of a line.
Tokens words(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

// Forwards and backwards alone.
Tokens computed(const nlohmann::json& rank) {
  Tokens tokens;
  for (const std::string token : rank["actions"]) {
    if (token.find_first_of("FB") != std::string::npos) tokens.push_back(token);
  }
  return tokens;
}

}  // namespace

TEST_CASE("every rank holds, sends and does what the layout says", "[train]") {
  const Model model = make_net();
  const std::vector<double> costs = estimate_costs(model.layers, model.sample_shape);
  int ran = 0;
  for (const Case& c : kCases) {
    for (const bool deterministic : {false, true}) {
      const nlohmann::json run = train(c.flags + (deterministic ? " --deterministic" : ""));
      const Layout layout = layout_of(c, deterministic);
      CAPTURE(c.flags, deterministic);
      CHECK(run["flags"]["micro_batches"] == layout.micro_batches);
      REQUIRE(run["ranks"].size() == static_cast<std::size_t>(c.replicas * c.ranks));
      check_parts(run, c);
      const ModelCut cut = cut_model(model.layers, model.sample_shape, costs, cut_by_cost(costs, c.ranks));
      for (int r = 0; r < c.replicas * c.ranks; ++r) {
        CAPTURE(r);
        const nlohmann::json& rank = run["ranks"][static_cast<std::size_t>(r)];
        const Traffic step = expected_traffic(layout, cut, {}, r, kBatch);
        check_traffic(traffic_of(rank), step.bytes_sent, step.bytes_received, step.messages_sent);
        const Plan plan = training_plan(layout, cut, {}, r / c.ranks);
        CHECK(rank["actions"].get<Tokens>() ==
              tokens_of(plan.per_rank[static_cast<std::size_t>(r % c.ranks)]));
      }
      ++ran;
    }
  }
  fmt::print("{} runs: parameters, bytes, messages and actions of every rank as computed\n", ran);
}

// What follows is worked out on paper. The parameters of net: conv1 500 + 20, conv2 25,000 + 50, fc1
// 400,000 + 500, fc2 5,000 + 10. Going backward, buckets of 32 KiB, then of 1 MiB, take whole parameters;
// each has one flag a parameter and is padded to a multiple of N:
//
//   whole model  fc2, fc1.bias  5,510 + 3    fc1.weight  400,000 + 1         conv2, conv1  25,570 + 4
//   conv alone   conv2         25,050 + 2    conv1           520 + 2
//   fc alone     fc2, fc1.bias  5,510 + 3    fc1.weight  400,000 + 1

TEST_CASE("replicas send 2 (N-1)/N of the gradients", "[train]") {
  // In the fast mode an all-reduce: of less than 64 KiB (the first bucket) by halving-doubling in 2 log2 N
  // messages, else by a ring in 2 (N-1). In the deterministic one each of the four blocks' sums goes to the
  // rank that adds that piece, but blocks of one replica form one subtree, so (N-1)/N of the bucket in N-1
  // messages; as much again to spread the sums.
  struct Row {
    int n;
    std::int64_t elements;  // of the three buckets, padded
    std::int64_t fast_messages, deterministic_messages;
  };
  for (const Row& row :
       {Row{2, 5514 + 400002 + 25574, 2 + 2 + 2, 3 * 2}, Row{4, 5516 + 400004 + 25576, 4 + 6 + 6, 3 * 6}}) {
    const std::int64_t bytes = 2 * (row.n - 1) * 4 * row.elements / row.n;
    const std::string flags = fmt::format("--strategy data --data-parallel {}", row.n);
    CAPTURE(flags);
    const nlohmann::json fast = train(flags);
    for (const nlohmann::json& rank : fast["ranks"]) {
      check_traffic(traffic_of(rank), bytes, bytes, row.fast_messages);
    }
    const nlohmann::json deterministic = train(flags + " --deterministic");
    for (const nlohmann::json& rank : deterministic["ranks"]) {
      check_traffic(traffic_of(rank), bytes, bytes, row.deterministic_messages);
    }
  }
}

TEST_CASE("a cut at the flatten sends 3,200 bytes a sample each way", "[train]") {
  // 50 x 4 x 4 = 800 numbers a sample, forward from rank 0 and back from rank 1, a message a block.
  for (const auto& [flags, blocks] : std::map<std::string, int>{{"--strategy layer", 1},
                                                                {"--strategy pipeline", 4},
                                                                {"--strategy pipeline --schedule 1f1b", 4},
                                                                {"--strategy layer --deterministic", 4}}) {
    const nlohmann::json run = train(flags + " --stages 2 --cut flatten");
    CAPTURE(flags);
    for (const nlohmann::json& rank : run["ranks"]) {
      check_traffic(traffic_of(rank), 3200 * kBatch, 3200 * kBatch, blocks);
    }
    CHECK(run["ranks"][0]["parameter_count"] == 25570);
    CHECK(run["ranks"][1]["parameter_count"] == 405510);
  }
}

TEST_CASE("a hybrid sends both: its own samples, and its stage's gradients", "[train]") {
  // 61 samples in 8 blocks are 8 8 8 8 | 8 7 7 7, in 4 blocks 16 15 | 15 15. Two replicas exchange each
  // bucket once, in two messages.
  struct Row {
    std::string flags;
    std::int64_t samples[2];  // of each replica
    std::int64_t blocks;
  };
  for (const Row& row : {Row{"", {32, 29}, 4}, Row{"--deterministic", {31, 30}, 2}}) {
    const nlohmann::json run =
        train("--strategy hybrid --data-parallel 2 --stages 2 --cut flatten " + row.flags);
    CAPTURE(row.flags);
    REQUIRE(run["ranks"].size() == 4);
    for (std::size_t r = 0; r < 4; ++r) {
      CAPTURE(r);
      const std::int64_t gradients = 4 * (r % 2 == 0 ? 25052 + 522 : 5514 + 400002);
      const std::int64_t bytes = 3200 * row.samples[r / 2] + gradients;
      check_traffic(traffic_of(run["ranks"][r]), bytes, bytes, row.blocks + 2 * 2);
    }
  }
}

TEST_CASE("the actions are those of the strategy as it is drawn in books", "[train]") {
  const auto ranks = [](const std::string& flags) { return train(flags)["ranks"]; };
  for (const nlohmann::json& rank : ranks("--strategy data")) {
    CHECK(rank["actions"].get<Tokens>() == words("0F0 0B0 0R0 0R1 0R2 S"));
  }
  nlohmann::json run = ranks("--strategy layer");
  CHECK(run[0]["actions"].get<Tokens>() == words("0F0 0>1a0#0 0<1g0#1 0B0 S"));
  CHECK(run[1]["actions"].get<Tokens>() == words("1<0a0#0 1F0 1B0 1>0g0#1 S"));
  run = ranks("--strategy pipeline");
  CHECK(computed(run[0]) == words("0F0 0F1 0F2 0F3 0B3 0B2 0B1 0B0"));
  CHECK(computed(run[1]) == words("1F0 1F1 1F2 1F3 1B3 1B2 1B1 1B0"));
  run = ranks("--strategy pipeline --schedule 1f1b");
  CHECK(computed(run[0]) == words("0F0 0F1 0B0 0F2 0B1 0F3 0B2 0B3"));
  CHECK(computed(run[1]) == words("1F0 1B0 1F1 1B1 1F2 1B2 1F3 1B3"));
}
