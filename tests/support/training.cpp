#include "tests/support/training.h"

#include <cstring>
#include <mutex>

#include <fmt/core.h>

#include "engine/nn/linear.h"
#include "engine/nn/log_softmax.h"
#include "engine/nn/relu.h"
#include "engine/ops/nll_loss.h"
#include "engine/optim/sgd.h"

namespace warpline::test {

using parallel::Range;
using parallel::Worker;

Sequential tiny_model() {
  Sequential model;
  model.add("a", std::make_shared<Linear>(6, 5));
  model.add("a_relu", std::make_shared<ReLU>());
  model.add("b", std::make_shared<Linear>(5, 7));
  model.add("b_relu", std::make_shared<ReLU>());
  model.add("c", std::make_shared<Linear>(7, 5));
  model.add("c_relu", std::make_shared<ReLU>());
  model.add("d", std::make_shared<Linear>(5, 4));
  model.add("out", std::make_shared<LogSoftmax>(1));
  return model;
}

Tensor nll_sum(Context& context, const Tensor& output, const Tensor& target) {
  return nll_loss(context, output, target, {}, {.reduction = Reduction::Sum});
}

std::vector<std::shared_ptr<Context>> make_contexts(int ranks, int threads) {
  std::vector<std::shared_ptr<Context>> contexts;
  for (int rank = 0; rank < ranks; ++rank)
    contexts.push_back(std::make_shared<Context>(Device{DeviceKind::Cpu, rank}, threads));
  return contexts;
}

// Not round numbers: sums in another order have other last bits.
Tensor tiny_input(Context& context, std::int64_t step, Range samples) {
  std::vector<float> values;
  for (std::int64_t s = samples.begin; s < samples.end; ++s) {
    for (std::int64_t i = 0; i < 6; ++i) {
      const std::int64_t mixed = (step * 7919 + s * 104729 + i * 1299709) % 2003;
      values.push_back(static_cast<float>(mixed) / 701.3F - 1.4F);
    }
  }
  return Tensor::from_host(context, values, {samples.size(), 6});
}

Tensor tiny_target(Context& context, std::int64_t step, Range samples) {
  std::vector<std::int64_t> values;
  for (std::int64_t s = samples.begin; s < samples.end; ++s) values.push_back((s * 5 + step) % 4);
  return Tensor::from_host(context, values, {samples.size()});
}

TinyResult train(const TinyRun& run) {
  TinyResult result;
  const int ranks = run.layout.replicas * run.layout.ranks;
  result.plans.resize(static_cast<std::size_t>(ranks));
  result.step_growth.resize(static_cast<std::size_t>(ranks));
  std::mutex mutex;
  const std::vector<std::shared_ptr<Context>> contexts = make_contexts(ranks, run.threads);
  parallel::run_local(
      contexts, run.local, [&](int rank, const std::shared_ptr<parallel::Communicator>& world) {
        const std::shared_ptr<Context>& context = contexts[static_cast<std::size_t>(rank)];
        Worker worker(*context, tiny_model(), kTinySample, nll_sum, run.layout, world, run.options);
        Sgd optimizer(worker.parameters(), {.lr = 0.05, .momentum = 0.9});
        std::int64_t live_before = 0;
        for (std::size_t step = 0; step < run.batches.size(); ++step) {
          const auto s = static_cast<std::int64_t>(step);
          const Range mine = worker.samples(run.batches[step]);
          {
            parallel::Batch batch{.input = {}, .target = {}, .count = run.batches[step]};
            if (worker.needs_input()) batch.input = tiny_input(*context, s, mine);
            if (worker.needs_target()) batch.target = tiny_target(*context, s, mine);
            worker.train_step(batch, optimizer);
          }
          const std::int64_t live = context->allocator()->stats().live_bytes;
          if (step == 0) live_before = live;
          result.step_growth[static_cast<std::size_t>(rank)] = live - live_before;
        }
        if (run.then) run.then(worker, optimizer);
        result.plans[static_cast<std::size_t>(rank)] = worker.plan();
        const std::vector<double> losses = worker.gather_losses();
        const parallel::State state = worker.gather_state(&optimizer);
        const std::vector<parallel::RankReport> reports = worker.gather_reports();
        if (rank != 0) return;
        const std::lock_guard lock(mutex);
        result.losses = losses;
        for (const auto& [name, tensor] : state) result.state.emplace(name, tensor.to_host<float>());
        result.reports = reports;
        result.cut = worker.cut();
      });
  return result;
}

std::string difference(const TinyResult& a, const TinyResult& b) {
  if (a.losses != b.losses) return "losses";
  if (a.state.size() != b.state.size()) return "names";
  for (const auto& [name, values] : a.state) {
    const auto other = b.state.find(name);
    if (other == b.state.end()) return name;
    if (values.size() != other->second.size() ||
        std::memcmp(values.data(), other->second.data(), values.size() * sizeof(float)) != 0) {
      return name;
    }
  }
  return "same";
}

}  // namespace warpline::test
