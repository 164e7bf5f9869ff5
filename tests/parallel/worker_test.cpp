// Every layout of a training run learns the same thing, bit for bit, sends what it must and no more, and does
// what its plan says.
#include "parallel/worker.h"

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "engine/optim/sgd.h"
#include "engine/storage.h"
#include "kernels/error.h"
#include "parallel/expected_traffic.h"
#include "parallel/tokens.h"
#include "tests/support/training.h"

using namespace warpline;
using namespace warpline::parallel;
using test::TinyResult;
using test::TinyRun;

namespace {

// Small enough that the tiny model has several buckets.
constexpr BucketLimits kSmallBuckets{200, 64};

Layout layout(int replicas, int ranks, const std::string& schedule, int micro_batches = 4) {
  Layout result;
  result.replicas = replicas;
  result.ranks = ranks;
  result.micro_batches = micro_batches;
  result.schedule = schedule;
  result.deterministic = true;
  return result;
}

std::string name(const Layout& l) {
  return fmt::format("{} x {} {}, {} micro-batches", l.replicas, l.ranks, l.schedule, l.micro_batches);
}

std::vector<Layout> all_layouts(int micro_batches) {
  std::vector<Layout> all;
  for (const auto& [replicas, ranks] :
       std::vector<std::pair<int, int>>{{2, 1}, {3, 1}, {4, 1}, {1, 2}, {1, 4}, {2, 2}, {2, 3}}) {
    if (replicas > micro_batches) continue;
    for (const char* schedule : {"naive", "gpipe", "1f1b"}) {
      if (ranks == 1 && std::string(schedule) != "gpipe") continue;
      all.push_back(layout(replicas, ranks, schedule, micro_batches));
    }
  }
  return all;
}

// Tokens of one rank's list without those of blocks that are empty in a batch of `count`.
std::vector<std::string> expected_actions(const Layout& l, const Plan& plan, int rank, std::int64_t count) {
  const Range owned = part(l.micro_batches, l.replicas, rank / l.ranks);
  const std::int64_t live = Blocks(count, l.micro_batches).live();
  std::vector<std::string> tokens;
  for (const Action& action : plan.per_rank[static_cast<std::size_t>(rank % l.ranks)]) {
    if (action.micro < 0 || owned.begin + action.micro < live) tokens.push_back(to_token(action));
  }
  return tokens;
}

void check_split(const TinyRun& run, const TinyResult& result) {
  std::int64_t parameters = 0;
  std::int64_t whole = 0;
  for (const auto& counts : result.cut.parameter_counts) {
    for (const std::int64_t count : counts) whole += count;
  }
  for (const RankReport& report : result.reports) {
    CAPTURE(report.rank);
    Traffic expected;
    for (const std::int64_t count : run.batches) {
      expected += expected_traffic(run.layout, result.cut, run.options.buckets, report.rank, count);
    }
    CHECK(report.bytes_sent == expected.bytes_sent);
    CHECK(report.bytes_received == expected.bytes_received);
    CHECK(report.messages_sent == expected.messages_sent);
    CHECK(report.actions == expected_actions(run.layout, result.plans[static_cast<std::size_t>(report.rank)],
                                             report.rank, run.batches.back()));
    CHECK(result.step_growth[static_cast<std::size_t>(report.rank)] == 0);
    if (run.layout.ranks > 1) CHECK(report.parameter_count < whole);
    if (report.replica == 0) parameters += report.parameter_count;
  }
  CHECK(parameters == whole);
}

}  // namespace

TEST_CASE("every layout gives the bits, the messages and the actions that it should", "[worker]") {
  int tried = 0;
  // 8: even; 61: odd sizes; 5: blocks of one; 2: empty blocks, also whole replicas without any.
  for (const std::int64_t last : {8, 61, 5, 2}) {
    for (const int m : {4, 6}) {
      const std::vector<std::int64_t> batches = {12, last, last};
      const TinyResult serial = test::train({.layout = layout(1, 1, "gpipe", m), .batches = batches});
      REQUIRE(serial.losses.size() == 3);
      for (const Layout& l : all_layouts(m)) {
        CAPTURE(name(l), last);
        const TinyRun run{.layout = l, .batches = batches, .options = {.buckets = kSmallBuckets}};
        const TinyResult result = test::train(run);
        CHECK(test::difference(serial, result) == "same");
        check_split(run, result);
        ++tried;
      }
    }
  }
  fmt::print("[worker] {} layouts and batches with the bits of the serial run\n", tried);
}

TEST_CASE("other micro-batches or data give other bits", "[worker]") {
  const TinyResult four = test::train({.layout = layout(1, 1, "gpipe", 4)});
  CHECK(test::difference(four, test::train({.layout = layout(1, 1, "gpipe", 3)})) != "same");
  CHECK(test::difference(four, test::train({.layout = layout(1, 1, "gpipe", 4), .batches = {8, 9}})) !=
        "same");
}

TEST_CASE("the fast mode learns nearly the same, the same each time, with the messages of its formula",
          "[worker]") {
  const TinyResult serial = test::train({.layout = layout(1, 1, "gpipe")});
  for (Layout l : all_layouts(4)) {
    CAPTURE(name(l));
    l.deterministic = false;
    const TinyRun run{.layout = l, .options = {.buckets = kSmallBuckets}};
    const TinyResult once = test::train(run);
    CHECK(test::difference(once, test::train(run)) == "same");
    check_split(run, once);
    for (std::size_t step = 0; step < serial.losses.size(); ++step) {
      // Sums of eight float32 terms in another order.
      CHECK(once.losses[step] == Approx(serial.losses[step]).epsilon(8 * 1.2e-7));
    }
  }
}

TEST_CASE("threads and send modes change no bit", "[worker]") {
  const TinyResult serial = test::train({.layout = layout(1, 1, "gpipe"), .threads = 1});
  CHECK(test::difference(serial, test::train({.layout = layout(1, 1, "gpipe"), .threads = 3})) == "same");
  for (const SendMode mode : {SendMode::Rendezvous, SendMode::Bounded, SendMode::Buffered}) {
    for (const std::uint64_t seed : {0, 7}) {
      TinyRun run{.layout = layout(2, 2, "1f1b")};
      run.local.send_mode = mode;
      run.local.order_seed = seed;
      CHECK(test::difference(serial, test::train(run)) == "same");
    }
  }
}

TEST_CASE("accumulated batches reduce once and give the step of one large batch", "[worker]") {
  // Two passes over halves; each half is one block a replica, so both ways add the same blocks.
  for (const bool deterministic : {true, false}) {
    std::vector<std::vector<float>> weights(2);
    std::vector<Traffic> traffic(2);
    std::vector<std::vector<double>> losses(2);
    for (const bool accumulate : {false, true}) {
      Layout l = layout(2, 1, "gpipe", 2);
      l.deterministic = deterministic;
      const std::vector<std::shared_ptr<Context>> contexts = test::make_contexts(2);
      run_local(contexts, {}, [&](int rank, const std::shared_ptr<Communicator>& world) {
        Context& context = *contexts[static_cast<std::size_t>(rank)];
        Worker worker(context, test::tiny_model(), test::kTinySample, test::nll_sum, l, world);
        Sgd optimizer(worker.parameters(), {.lr = 0.05});
        const auto batch = [&](Range samples, std::int64_t count) {
          return Batch{test::tiny_input(context, 0, samples), test::tiny_target(context, 0, samples), count,
                       8};
        };
        const std::int64_t r = rank;
        if (accumulate) {
          worker.accumulate(batch({r * 2, r * 2 + 2}, 4));
          const std::int64_t quiet = worker.report().messages_sent;
          worker.train_step(batch({4 + r * 2, 6 + r * 2}, 4), optimizer);
          if (quiet != 0) throw Failure("accumulate() sent messages");
        } else {
          worker.train_step(batch({r * 4, r * 4 + 4}, 8), optimizer);
        }
        const std::vector<double> means = worker.gather_losses();
        const State state = worker.gather_state();
        if (rank != 0) return;
        const std::size_t index = accumulate ? 1 : 0;
        weights[index] = state.at("a.weight").to_host<float>();
        traffic[index].messages_sent = worker.report().messages_sent;
        losses[index] = means;
      });
    }
    REQUIRE(losses[1].size() == 1);
    CHECK(losses[0][0] == Approx(losses[1][0]).epsilon(1e-6));
    // One reduction, of which the deterministic one sends a row for each pass.
    CHECK(traffic[1].messages_sent == traffic[0].messages_sent + (deterministic ? 1 : 0));
    for (std::size_t i = 0; i < weights[0].size(); ++i) {
      CHECK(weights[0][i] == Approx(weights[1][i]).epsilon(1e-4).margin(1e-6));
    }
  }
}

TEST_CASE("accumulated batches have the same bits in every layout", "[worker]") {
  std::vector<std::vector<float>> weights;
  for (const Layout& l :
       {layout(1, 1, "gpipe"), layout(2, 1, "gpipe"), layout(1, 2, "1f1b"), layout(3, 2, "gpipe")}) {
    const int ranks = l.replicas * l.ranks;
    const std::vector<std::shared_ptr<Context>> contexts = test::make_contexts(ranks);
    weights.emplace_back();
    run_local(contexts, {}, [&](int rank, const std::shared_ptr<Communicator>& world) {
      Context& context = *contexts[static_cast<std::size_t>(rank)];
      Worker worker(context, test::tiny_model(), test::kTinySample, test::nll_sum, l, world);
      Sgd optimizer(worker.parameters(), {.lr = 0.05});
      for (const std::int64_t count : {7, 3, 9}) {
        const Range mine = worker.samples(count);
        const Batch batch{test::tiny_input(context, count, mine), test::tiny_target(context, count, mine),
                          count, 19};
        if (count == 9) {
          worker.train_step(batch, optimizer);
        } else {
          worker.accumulate(batch);
        }
      }
      const State state = worker.gather_state();
      if (rank == 0) weights.back() = state.at("a.weight").to_host<float>();
    });
    CHECK(weights.back() == weights.front());
  }
}

TEST_CASE("a state written by one layout continues under any other, bit for bit", "[worker]") {
  const TinyResult unbroken = test::train({.layout = layout(1, 1, "gpipe"), .batches = {8, 8, 8}});
  int tried = 0;
  for (const Layout& first : {layout(1, 1, "gpipe"), layout(2, 2, "1f1b"), layout(1, 4, "gpipe")}) {
    // Rank 0's state after two steps, as host values that the second run's ranks take their part of.
    std::map<std::string, std::vector<float>> saved = test::train({.layout = first}).state;
    for (const Layout& second : {layout(4, 1, "gpipe"), layout(1, 2, "gpipe"), layout(2, 3, "1f1b")}) {
      CAPTURE(name(first), name(second));
      const int ranks = second.replicas * second.ranks;
      const std::vector<std::shared_ptr<Context>> contexts = test::make_contexts(ranks);
      std::map<std::string, std::vector<float>> continued;
      run_local(contexts, {}, [&](int rank, const std::shared_ptr<Communicator>& world) {
        Context& context = *contexts[static_cast<std::size_t>(rank)];
        Sequential model = test::tiny_model();
        Worker worker(context, model, test::kTinySample, test::nll_sum, second, world);
        Sgd optimizer(worker.parameters(), {.lr = 0.05, .momentum = 0.9});
        State state;
        for (const Parameter* parameter : model.parameters()) {
          for (const std::string& key :
               {parameter->name, "optimizer." + parameter->name + ".momentum_buffer"}) {
            state.emplace(key, Tensor::from_host(context, saved.at(key), parameter->shape));
          }
        }
        worker.load_state(state, &optimizer);
        const Range mine = worker.samples(8);
        worker.train_step({test::tiny_input(context, 2, mine), test::tiny_target(context, 2, mine), 8},
                          optimizer);
        for (const auto& [key, tensor] : worker.gather_state(&optimizer)) {
          continued.emplace(key, tensor.to_host<float>());
        }
      });
      CHECK(continued == unbroken.state);
      ++tried;
    }
  }
  fmt::print("[worker] {} pairs of layouts, one resuming the other's state\n", tried);
}

TEST_CASE("a state that lacks a tensor or has another shape is refused, and nothing is changed", "[worker]") {
  const std::vector<std::shared_ptr<Context>> contexts = test::make_contexts(1);
  run_local(contexts, {}, [&](int, const std::shared_ptr<Communicator>& world) {
    Context& context = *contexts[0];
    Worker worker(context, test::tiny_model(), test::kTinySample, test::nll_sum, layout(1, 1, "gpipe"),
                  world);
    State state = worker.gather_state();
    const std::vector<float> before = state.at("a.weight").to_host<float>();
    state.at("a.weight") = Tensor::full(context, {5, 6}, 3.0);
    State lacking = state;
    lacking.erase("d.bias");
    CHECK_THROWS_WITH(worker.load_state(lacking), Catch::Contains("d.bias"));
    State bent = state;
    bent.at("d.weight") = Tensor::zeros(context, {5, 4});
    CHECK_THROWS_AS(worker.load_state(bent), ShapeError);
    CHECK(worker.gather_state().at("a.weight").to_host<float>() == before);
    worker.load_state(state);
    CHECK(worker.gather_state().at("a.weight").to_host<float>() == std::vector<float>(30, 3.0F));
  });
}

TEST_CASE("inference streams batches in order and gives one answer in every layout", "[worker]") {
  const std::vector<std::int64_t> sizes = {4, 3, 4, 1, 4, 2, 4};
  std::vector<float> serial;
  for (const Layout& l : {layout(1, 1, "gpipe"), layout(1, 2, "naive"), layout(1, 4, "gpipe"),
                          layout(2, 1, "gpipe"), layout(2, 2, "gpipe"), layout(3, 2, "1f1b")}) {
    CAPTURE(name(l));
    const int ranks = l.replicas * l.ranks;
    const std::vector<std::shared_ptr<Context>> contexts = test::make_contexts(ranks);
    std::vector<float> outputs;
    std::vector<std::int64_t> order;
    std::vector<RankReport> reports;
    run_local(contexts, {}, [&](int rank, const std::shared_ptr<Communicator>& world) {
      Context& context = *contexts[static_cast<std::size_t>(rank)];
      Worker worker(context, test::tiny_model(), test::kTinySample, test::nll_sum, l, world);
      worker.infer(
          sizes,
          [&](std::int64_t b) {
            return test::tiny_input(context, b, {0, sizes[static_cast<std::size_t>(b)]});
          },
          [&](std::int64_t b, const Tensor& output) {
            order.push_back(b);
            for (const float value : output.to_host<float>()) outputs.push_back(value);
          });
      const std::vector<RankReport> all = worker.gather_reports();
      if (rank == 0) reports = all;
    });
    CHECK(order == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6});
    REQUIRE(outputs.size() == 22 * 4);
    if (serial.empty()) serial = outputs;
    CHECK(outputs == serial);
    if (l.ranks > 1) CHECK(reports[0].bytes_sent > 0);
  }
}

TEST_CASE("evaluation counts every sample once, whoever computes it", "[worker]") {
  std::vector<std::int64_t> counts;
  for (const Layout& l :
       {layout(1, 1, "gpipe"), layout(4, 1, "gpipe"), layout(1, 3, "gpipe"), layout(3, 2, "gpipe")}) {
    for (const std::int64_t batch_size : {7, 100}) {
      const std::vector<std::shared_ptr<Context>> contexts = test::make_contexts(l.replicas * l.ranks);
      std::vector<std::int64_t> everywhere(contexts.size());
      run_local(contexts, {}, [&](int rank, const std::shared_ptr<Communicator>& world) {
        Context& context = *contexts[static_cast<std::size_t>(rank)];
        Worker worker(context, test::tiny_model(), test::kTinySample, test::nll_sum, l, world);
        everywhere[static_cast<std::size_t>(rank)] =
            worker.evaluate(101, batch_size, [&](std::int64_t begin, std::int64_t end) {
              return Batch{test::tiny_input(context, 0, {begin, end}),
                           test::tiny_target(context, 0, {begin, end}), end - begin, 0};
            });
      });
      counts.insert(counts.end(), everywhere.begin(), everywhere.end());
    }
  }
  CHECK(counts[0] > 0);
  CHECK(counts[0] < 101);
  CHECK(counts == std::vector<std::int64_t>(counts.size(), counts[0]));
}

TEST_CASE("impossible layouts are refused with the rule", "[worker]") {
  const auto start = [](const Layout& l) { test::train({.layout = l}); };
  CHECK_THROWS_WITH(start(layout(1, 9, "gpipe")), Catch::Contains("use at most 8 stages"));
  CHECK_THROWS_WITH(start(layout(3, 1, "gpipe", 2)), Catch::Contains("at least 3"));
  CHECK_THROWS_WITH(start(layout(1, 2, "gpip")), Catch::Contains("gpipe"));
  CHECK_THROWS_AS(start(layout(1, 2, "inference")), ValueError);
  CHECK_THROWS_AS(start(layout(1, 1, "gpipe", 0)), ValueError);
  Layout by_hand = layout(1, 3, "gpipe");
  by_hand.cuts = {2};
  CHECK_THROWS_WITH(start(by_hand), Catch::Contains("1 cuts make 2 stages, not 3"));
}

TEST_CASE("ranks that were started differently are told how", "[worker]") {
  const std::vector<std::shared_ptr<Context>> contexts = test::make_contexts(2);
  const auto start = [&](int rank, const std::shared_ptr<Communicator>& world) {
    Layout l = layout(2, 1, "gpipe", rank == 0 ? 4 : 6);
    Worker worker(*contexts[static_cast<std::size_t>(rank)], test::tiny_model(), test::kTinySample,
                  test::nll_sum, l, world);
  };
  CHECK_THROWS_WITH(run_local(contexts, {}, start), Catch::Contains("'micro-batches 6' here") &&
                                                        Catch::Contains("'micro-batches 4' on rank 0"));
}

TEST_CASE("cuts by hand, by count and by measuring train alike", "[worker]") {
  const TinyResult serial = test::train({.layout = layout(1, 1, "gpipe")});
  Layout by_hand = layout(1, 3, "gpipe");
  by_hand.cuts = {1, 6};
  Layout by_count = layout(1, 3, "gpipe");
  by_count.cut_rule = CutRule::Count;
  Layout measured = layout(2, 3, "gpipe");
  measured.cut_rule = CutRule::Measured;
  for (const Layout& l : {by_hand, by_count, measured}) {
    CHECK(test::difference(serial, test::train({.layout = l})) == "same");
  }
  CHECK(test::train({.layout = by_hand}).reports[1].layers ==
        std::vector<std::string>{"a_relu", "b", "b_relu", "c", "c_relu"});
}

TEST_CASE("a trace has the actions and the calls of every rank", "[worker]") {
  std::vector<TraceEvent> events;
  TinyRun run{.layout = layout(2, 2, "gpipe"), .options = {.trace = true}};
  run.then = [&](Worker& worker, Optimizer&) {
    const std::vector<TraceEvent> all = worker.gather_trace();
    if (worker.rank() == 0) events = all;
  };
  test::train(run);
  std::map<std::pair<int, std::string>, int> rows;
  for (const TraceEvent& event : events) {
    CHECK(event.start_us <= event.end_us);
    ++rows[{event.rank, event.stream}];
  }
  for (int rank = 0; rank < 4; ++rank) {
    CHECK(rows[{rank, "compute"}] == 2 * (2 + 2 + 1));  // steps x (forward, backward, step)
    CHECK(rows[{rank, "communication"}] > 0);
  }
}
