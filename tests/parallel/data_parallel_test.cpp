// Gradients of replicas: overlap is real, one reduction a step, unused parameters are left alone.
#include <chrono>
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "engine/nn/linear.h"
#include "engine/nn/log_softmax.h"
#include "engine/node.h"
#include "engine/ops/scale.h"
#include "engine/optim/sgd.h"
#include "kernels/error.h"
#include "parallel/executor.h"
#include "parallel/lowering.h"
#include "parallel/schedule.h"
#include "tests/support/training.h"

using namespace warpline;
using namespace warpline::parallel;

namespace {

constexpr auto kSlow = std::chrono::milliseconds(10);

// Backward takes its time, as a large layer's would.
class SlowNode final : public Node {
 public:
  std::string_view name() const override { return "slow"; }
  std::vector<Tensor> backward(Context& context, const Tensor& gradient, const std::vector<bool>&) override {
    std::this_thread::sleep_for(kSlow);
    return {scale(context, gradient, 1.0)};
  }
};

class Slow final : public Module {
 public:
  std::string describe() const override { return "Slow()"; }
  Shape output_shape(const Shape& input) const override { return input; }
  Tensor forward(Context& context, const Tensor& x) const override {
    Tensor y = scale(context, x.detach(), 1.0);
    record<SlowNode>(context, y, {&x});
    return y;
  }
};

// A linear layer that is used only where the block's first number is positive.
class Sometimes final : public Module {
 public:
  std::string describe() const override { return "Sometimes()"; }
  Shape output_shape(const Shape& input) const override { return input; }
  Tensor forward(Context& context, const Tensor& x) const override {
    return x.to_host<float>()[0] > 0 ? inner_.forward(context, x) : x;
  }
  std::vector<Parameter*> parameters() override { return inner_.parameters(); }

 private:
  Linear inner_{6, 6};
};

Layout data_layout(int replicas, bool deterministic) {
  Layout layout;
  layout.replicas = replicas;
  layout.micro_batches = 4;
  layout.deterministic = deterministic;
  return layout;
}

struct Run {
  double fastest_step = 1e9;
  std::int64_t messages_sent = 0;  // a step
  std::vector<float> weight;
};

Run run_slowly(double delay, bool deterministic) {
  const auto model = [] {
    Sequential layers;
    layers.add("a", std::make_shared<Linear>(6, 6));
    layers.add("slow_a", std::make_shared<Slow>());
    layers.add("b", std::make_shared<Linear>(6, 6));
    layers.add("slow_b", std::make_shared<Slow>());
    layers.add("c", std::make_shared<Linear>(6, 6));
    layers.add("slow_c", std::make_shared<Slow>());
    layers.add("d", std::make_shared<Linear>(6, 4));
    layers.add("out", std::make_shared<LogSoftmax>(1));
    return layers;
  };
  constexpr int kSteps = 3;
  Run run;
  LocalOptions options;
  options.message_delay_seconds = delay;
  const std::vector<std::shared_ptr<Context>> contexts = test::make_contexts(2);
  run_local(contexts, options, [&](int rank, const std::shared_ptr<Communicator>& world) {
    Context& context = *contexts[static_cast<std::size_t>(rank)];
    Layout layout = data_layout(2, deterministic);
    layout.micro_batches = 2;
    Worker worker(context, model(), test::kTinySample, test::nll_sum, layout, world,
                  {.buckets = {200, 64}});  // a bucket for each linear layer
    Sgd optimizer(worker.parameters(), {.lr = 0.05});
    const Range mine = worker.samples(6);
    const Batch batch{test::tiny_input(context, 0, mine), test::tiny_target(context, 0, mine), 6};
    for (int step = 0; step < kSteps; ++step) {
      const auto start = std::chrono::steady_clock::now();
      worker.train_step(batch, optimizer);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      if (rank == 0) run.fastest_step = std::min(run.fastest_step, seconds.count());
    }
    const State state = worker.gather_state();
    if (rank == 0) run.weight = state.at("a.weight").to_host<float>();
    if (rank == 0) run.messages_sent = worker.report().messages_sent / kSteps;
  });
  return run;
}

}  // namespace

TEST_CASE("with a delay on every message a step takes less than the sum of the delays longer",
          "[data_parallel]") {
  constexpr double kDelay = 0.005;
  for (const bool deterministic : {false, true}) {
    const Run plain = run_slowly(0, deterministic);
    const Run delayed = run_slowly(kDelay, deterministic);
    const double longer = delayed.fastest_step - plain.fastest_step;
    const double sum = kDelay * static_cast<double>(plain.messages_sent);
    fmt::print("[data_parallel] {}: {} messages of {:.0f} ms delay a step make it {:.1f} ms longer\n",
               deterministic ? "deterministic" : "fast", plain.messages_sent, 1e3 * kDelay, 1e3 * longer);
    CHECK(plain.messages_sent >= 6);
    CHECK(longer < sum);
    CHECK(delayed.weight == plain.weight);
  }
}

TEST_CASE("a bucket leaves from inside the last backward, in the order of the plan", "[data_parallel]") {
  class Nesting final : public Observer {
   public:
    void before(const Action& action) override {
      if (action.op == Op::ReduceGrads) inside.push_back(depth_ > 0);
      ++depth_;
    }
    void after(const Action&) override { --depth_; }
    std::vector<bool> inside;  // a backward, by reduction

   private:
    int depth_ = 0;
  };
  const std::vector<std::shared_ptr<Context>> contexts = test::make_contexts(2);
  std::vector<Nesting> seen(2);
  run_local(contexts, {}, [&](int rank, const std::shared_ptr<Communicator>& world) {
    const auto r = static_cast<std::size_t>(rank);
    Context& context = *contexts[r];
    const std::shared_ptr<Communicator> alone = world->split(rank, 0, "alone");
    Sequential model = test::tiny_model();
    model.materialise(context, 1);
    GradientReducer reducer(context, 0, model.parameters(), world, {{0, 2}, {2, 4}}, true, {200, 64});
    Stage stage(context, model.slice(0, model.size()), false, test::nll_sum);
    Plan plan = compute_plan(find_schedule("gpipe"), {.ranks = 1, .micro_batches = 2});
    plan = lower(plan, {.buckets = {reducer.buckets()}});
    Executor executor(context, alone, 1, {test::kTinySample, {4}}, {false}, {{0, {&stage, &reducer}}},
                      seen[r]);
    Feed feed;
    feed.samples = {{0, 2}, {2, 4}};
    feed.first_block = rank * 2;
    feed.input = [&](int micro) { return test::tiny_input(context, rank, {micro, micro + 2}); };
    feed.target = [&](int micro) { return test::tiny_target(context, rank, {micro, micro + 2}); };
    feed.loss = [](int, double) {};
    feed.step = [] {};
    reducer.begin_pass(4);
    executor.run(plan.per_rank[0], feed);
  });
  for (const Nesting& rank : seen) {
    CHECK(rank.inside.size() >= 3);
    CHECK(rank.inside == std::vector<bool>(rank.inside.size(), true));
  }
}

TEST_CASE("a parameter that some blocks do not use gets the others' gradient, and none means no update",
          "[data_parallel]") {
  // Blocks 0 and 1 are replica 0's. used: blocks whose first number is positive.
  struct Case {
    const char* what;
    std::vector<bool> used;
  };
  const std::vector<Case> cases = {{"everywhere", {true, true, true, true}},
                                   {"on one replica", {false, false, true, true}},
                                   {"in one block", {false, true, false, false}},
                                   {"nowhere", {false, false, false, false}}};
  const auto model = [] {
    Sequential layers;
    layers.add("sometimes", std::make_shared<Sometimes>());
    layers.add("d", std::make_shared<Linear>(6, 4));
    layers.add("out", std::make_shared<LogSoftmax>(1));
    return layers;
  };
  for (const Case& c : cases) {
    std::vector<std::vector<float>> weights;  // by run
    std::vector<float> start;
    for (const auto& [replicas, deterministic] :
         std::vector<std::pair<int, bool>>{{1, true}, {2, true}, {4, true}, {1, false}, {2, false}}) {
      CAPTURE(c.what, replicas, deterministic);
      const std::vector<std::shared_ptr<Context>> contexts = test::make_contexts(replicas);
      weights.emplace_back();
      run_local(
          contexts, {},
          [&, n = replicas, fixed = deterministic](int rank, const std::shared_ptr<Communicator>& world) {
            Context& context = *contexts[static_cast<std::size_t>(rank)];
            Worker worker(context, model(), test::kTinySample, test::nll_sum, data_layout(n, fixed), world);
            // Decay would change an unused parameter that is not skipped.
            Sgd optimizer(worker.parameters(), {.lr = 0.05, .momentum = 0.9, .weight_decay = 0.1});
            const State before = worker.gather_state();
            const Range mine = worker.samples(8);
            std::vector<float> values(static_cast<std::size_t>(mine.size()) * 6, 0.3F);
            for (std::int64_t s = mine.begin; s < mine.end; ++s) {
              const float sign = c.used[static_cast<std::size_t>(s / 2)] ? 1.0F : -1.0F;
              values[static_cast<std::size_t>(s - mine.begin) * 6] =
                  sign * (0.1F + 0.37F * static_cast<float>(s));
            }
            const Batch batch{Tensor::from_host(context, values, {mine.size(), 6}),
                              test::tiny_target(context, 0, mine), 8};
            for (int step = 0; step < 2; ++step) worker.train_step(batch, optimizer);
            const State after = worker.gather_state();
            if (rank != 0) return;
            start = before.at("sometimes.weight").to_host<float>();
            weights.back() = after.at("sometimes.weight").to_host<float>();
          });
    }
    CAPTURE(c.what);
    CHECK(weights[1] == weights[0]);
    CHECK(weights[2] == weights[0]);
    for (const std::vector<float>& fast : {weights[3], weights[4]}) {
      for (std::size_t i = 0; i < fast.size(); ++i) {
        CHECK(fast[i] == Approx(weights[0][i]).epsilon(1e-5).margin(1e-7));
      }
    }
    const bool anywhere = std::find(c.used.begin(), c.used.end(), true) != c.used.end();
    CHECK((weights[0] == start) == !anywhere);
  }
}
