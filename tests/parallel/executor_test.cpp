// The interpreter runs every plan under every send mode to the same gradients, hangs where it must and says
// so, and passes on what goes wrong inside an action.
#include "parallel/executor.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "engine/ops/views.h"
#include "kernels/error.h"
#include "parallel/lowering.h"
#include "parallel/recorder.h"
#include "parallel/schedule.h"
#include "parallel/tokens.h"
#include "parallel/validate.h"
#include "tests/support/plans.h"
#include "tests/support/training.h"

using namespace warpline;
using namespace warpline::parallel;

namespace {

Plan plan_of(const Schedule& schedule, int n, int m) {
  return lower(compute_plan(schedule, {.ranks = n, .micro_batches = m}));
}

// What running a plan gave on one rank: losses or outputs by micro-batch, gradients by name.
struct Outcome {
  std::map<int, std::vector<float>> blocks;
  std::map<std::string, std::vector<float>> gradients;
  std::vector<std::string> actions;
  int unfreed = 0;  // micro-batches that still hold memory
};

// One stage of a model cut by count, and everything to run plans on it. A test-only entry to the executor:
// plans are run as they are given, validated or not.
class Rank {
 public:
  Rank(Context& context, const std::shared_ptr<Communicator>& world, const Sequential& model, int ranks)
      : context_(context),
        world_(world),
        alone_(world->split(world->rank(), 0, fmt::format("alone {}", world->rank()))),
        cut_(cut_model(model, test::kTinySample, estimate_costs(model, test::kTinySample),
                       cut_by_count(model.size(), ranks))) {
    const Layers range = cut_.stages[static_cast<std::size_t>(world->rank())];
    Sequential layers = model.slice(range.begin, range.end);
    layers.materialise(context, 1);
    parameters_ = layers.parameters();
    const bool last = world->rank() == ranks - 1;
    stage_ = std::make_unique<Stage>(context, std::move(layers),
                                     cut_.input_wants_gradient[static_cast<std::size_t>(world->rank())],
                                     last ? test::nll_sum : nullptr);
  }

  Outcome run(const Plan& plan, std::int64_t samples) {
    Outcome outcome;
    const int m = plan.micro_batches;
    const bool trains = plan.has_backward();
    GradientReducer reducer(context_, world_->rank(), parameters_, alone_, {{0, m}}, true, {});
    Recorder recorder(world_->rank(), context_.device_stream(), false);
    Executor executor(context_, world_, plan.stages, cut_.sample_shapes, cut_.input_wants_gradient,
                      {{world_->rank(), {stage_.get(), trains ? &reducer : nullptr}}}, recorder);
    const Blocks blocks(samples, m);
    Feed feed;
    for (int i = 0; i < m; ++i) feed.samples.push_back(blocks.samples(i));
    const auto range = [&](int micro) { return feed.samples[static_cast<std::size_t>(micro)]; };
    feed.input = [&](int micro) { return test::tiny_input(context_, 0, range(micro)); };
    feed.target = [&](int micro) { return test::tiny_target(context_, 0, range(micro)); };
    feed.loss = [&](int micro, double loss) { outcome.blocks[micro] = {static_cast<float>(loss)}; };
    if (!trains) {
      feed.output = [&](int micro, const Tensor& output) { outcome.blocks[micro] = output.to_host<float>(); };
    }
    feed.seed = 1.0 / static_cast<double>(samples);
    feed.step = [&] {
      for (const Parameter* parameter : parameters_) {
        outcome.gradients.emplace(parameter->name, parameter->value.grad().to_host<float>());
      }
    };
    reducer.begin_pass(blocks.live());
    recorder.begin_run();
    executor.run(plan.per_rank[static_cast<std::size_t>(world_->rank())], feed);
    recorder.end_run();
    outcome.actions = recorder.actions();
    outcome.unfreed = static_cast<int>(stage_->live());
    return outcome;
  }

 private:
  Context& context_;
  std::shared_ptr<Communicator> world_, alone_;
  ModelCut cut_;
  std::vector<Parameter*> parameters_;
  std::unique_ptr<Stage> stage_;
};

// Runs the plans one after the other on n ranks; result [plan][rank].
std::vector<std::vector<Outcome>> run_plans(const std::vector<Plan>& plans, int n,
                                            const LocalOptions& options,
                                            const std::function<Sequential()>& model = test::tiny_model) {
  std::vector<std::vector<Outcome>> outcomes(plans.size(), std::vector<Outcome>(static_cast<std::size_t>(n)));
  const std::vector<std::shared_ptr<Context>> contexts = test::make_contexts(n);
  run_local(contexts, options, [&](int r, const std::shared_ptr<Communicator>& world) {
    const auto at = static_cast<std::size_t>(r);
    Rank rank(*contexts[at], world, model(), n);
    for (std::size_t p = 0; p < plans.size(); ++p) {
      // One sample more than blocks: the first block is larger.
      outcomes[p][at] = rank.run(plans[p], plans[p].micro_batches + 1);
    }
  });
  return outcomes;
}

// All ranks' parts together.
Outcome whole(const std::vector<Outcome>& ranks) {
  Outcome sum;
  for (const Outcome& part : ranks) {
    sum.blocks.insert(part.blocks.begin(), part.blocks.end());
    sum.gradients.insert(part.gradients.begin(), part.gradients.end());
    sum.unfreed += part.unfreed;
  }
  return sum;
}

// Passes its input on, and throws when it meets the number that only micro-batch `bad` has.
class Tripwire final : public Module {
 public:
  std::string describe() const override { return "Tripwire()"; }
  Shape output_shape(const Shape& input) const override { return input; }
  Tensor forward(Context& context, const Tensor& x) const override {
    (void)context;
    if (x.size(0) == 2) fail<ValueError>("tripwire", "a block of two samples came by");
    return x;
  }
};

}  // namespace

TEST_CASE("every plan runs under every send mode and gives the serial bits", "[executor]") {
  int ran = 0;
  int planned = 0;
  std::map<std::pair<int, bool>, Outcome> serial;  // by m, trains
  for (const SendMode mode : {SendMode::Rendezvous, SendMode::Bounded, SendMode::Buffered}) {
    for (int n = 1; n <= 8; ++n) {
      std::vector<Plan> plans;
      for (const Schedule& schedule : schedules()) {
        for (int m = 1; m <= 16; ++m) {
          ++planned;
          if (!schedule.refusal({n, m, 1}).empty()) continue;
          plans.push_back(plan_of(schedule, n, m));
          REQUIRE(validate(plans.back()).ok());
        }
      }
      LocalOptions options;
      options.send_mode = mode;
      options.order_seed = static_cast<std::uint64_t>(n);
      const std::vector<std::vector<Outcome>> outcomes = run_plans(plans, n, options);
      for (std::size_t p = 0; p < plans.size(); ++p) {
        const Outcome result = whole(outcomes[p]);
        const auto [reference, first] =
            serial.try_emplace({plans[p].micro_batches, plans[p].has_backward()}, result);
        REQUIRE(result.blocks == reference->second.blocks);
        REQUIRE(result.gradients == reference->second.gradients);
        REQUIRE(result.unfreed == 0);
        for (std::size_t r = 0; r < plans[p].per_rank.size(); ++r) {
          std::vector<std::string> tokens;
          for (const Action& action : plans[p].per_rank[r]) tokens.push_back(to_token(action));
          REQUIRE(outcomes[p][r].actions == tokens);
        }
        ++ran;
      }
    }
  }
  fmt::print("[executor] {} of {} plans ran (n 1..8, m 1..16, {} schedules, 3 send modes)\n", ran, planned,
             schedules().size());
}

TEST_CASE("backward in two halves gives the same gradients, however late the second one runs", "[executor]") {
  int ran = 0;
  for (const int n : {1, 2, 4}) {
    for (const bool at_end : {false, true}) {
      const Plan whole_backward = compute_plan(find_schedule("1f1b"), {.ranks = n, .micro_batches = 5});
      Plan split = whole_backward;
      for (std::vector<Action>& list : split.per_rank) {
        std::vector<Action> halves, late;
        for (Action action : list) {
          if (action.op != Op::Backward) {
            halves.push_back(action);
            continue;
          }
          action.op = Op::BackwardInput;
          halves.push_back(action);
          action.op = Op::BackwardWeight;
          (at_end ? late : halves).push_back(action);
        }
        list = std::move(halves);
        list.insert(list.end(), late.begin(), late.end());
      }
      const Plan lowered = lower(split);
      INFO(validate(lowered).to_string());
      REQUIRE(validate(lowered).ok());
      const std::vector<std::vector<Outcome>> outcomes = run_plans({lower(whole_backward), lowered}, n, {});
      const Outcome expected = whole(outcomes[0]), result = whole(outcomes[1]);
      CHECK(result.blocks == expected.blocks);
      CHECK(!result.gradients.empty());
      CHECK(result.gradients == expected.gradients);
      CHECK(result.unfreed == 0);
      const auto weights = [](const std::string& token) { return token.find('W') != std::string::npos; };
      for (const Outcome& rank : outcomes[1]) {
        CHECK(std::count_if(rank.actions.begin(), rank.actions.end(), weights) == 5);
      }
      ++ran;
    }
  }
  fmt::print("[executor] {} of 6 plans with split backward ran\n", ran);
}

TEST_CASE("inference has several batches in flight", "[executor]") {
  const std::vector<Plan> plans = {plan_of(find_schedule("inference"), 4, 8)};
  const std::vector<std::vector<Outcome>> outcomes = run_plans(plans, 4, {});
  // Sent by the first rank before it could know that the first batch came out.
  CHECK(outcomes[0][0].actions.size() == 16);
  std::size_t most = 0;
  std::size_t in_flight = 0;
  for (const std::string& token : outcomes[0][2].actions) {
    if (token.find('<') != std::string::npos) most = std::max(most, ++in_flight);
    if (token.find('>') != std::string::npos) --in_flight;
  }
  CHECK(most >= 2);
}

TEST_CASE("1f1b with receives just before use hangs under rendezvous, and the report says who waits for whom",
          "[executor]") {
  const Plan naive =
      test::place_naively(compute_plan(find_schedule("1f1b"), {.ranks = 2, .micro_batches = 3}));
  LocalOptions options;
  options.send_mode = SendMode::Buffered;
  REQUIRE_NOTHROW(run_plans({naive}, 2, options));
  options.send_mode = SendMode::Rendezvous;
  options.timeout_seconds = 0.5;
  std::string message;
  try {
    run_plans({naive}, 2, options);
  } catch (const TimeoutError& error) {
    message = error.what();
  }
  CAPTURE(message);
  CHECK_THAT(message, Catch::Contains("rank 0 waits for rank 1 to receive") &&
                          Catch::Contains("rank 1 waits for rank 0 to receive") &&
                          Catch::Contains("rank 0 -> 1 -> 0"));
}

TEST_CASE("a stage that throws in one micro-batch ends all ranks with that error", "[executor]") {
  const auto model = [] {
    Sequential layers = test::tiny_model();
    Sequential tripped;
    for (int i = 0; i < layers.size(); ++i) {
      if (i == 4) tripped.add("tripwire", std::make_shared<Tripwire>());
      const Sequential one = layers.slice(i, i + 1);
      tripped.add("l" + std::to_string(i), std::make_shared<Sequential>(one));
    }
    return tripped;
  };
  for (const SendMode mode : {SendMode::Rendezvous, SendMode::Bounded, SendMode::Buffered}) {
    LocalOptions options;
    options.send_mode = mode;
    const auto start = std::chrono::steady_clock::now();
    std::string message;
    try {
      run_plans({plan_of(find_schedule("1f1b"), 3, 4)}, 3, options, model);
    } catch (const ValueError& error) {
      message = error.what();
    }
    CAPTURE(message);
    CHECK_THAT(message, Catch::Contains("a block of two samples came by") && Catch::Contains("rank 1") &&
                            Catch::Contains(", 1F0 (after") && Catch::Contains("before "));
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  }
}

TEST_CASE("an action without its tensor is an error of its own", "[executor]") {
  Plan broken = plan_of(find_schedule("gpipe"), 1, 2);
  std::swap(broken.per_rank[0][0], broken.per_rank[0][2]);  // backward before forward
  CHECK_THROWS_WITH(run_plans({broken}, 1, {}),
                    Catch::Contains("has not run forward") && Catch::Contains("0B1"));
}
