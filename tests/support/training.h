// A tiny training run on any layout, for tests that compare layouts: a model of eight layers, made-up data,
// ranks as threads. What every rank saw comes back to the main thread, which asserts.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/nn/module.h"
#include "parallel/layout.h"
#include "parallel/local.h"
#include "parallel/worker.h"

namespace warpline::test {

// Linear, ReLU, Linear, ReLU, Linear, ReLU, Linear, LogSoftmax: [6] to [4].
Sequential tiny_model();
inline const Shape kTinySample = {6};
Tensor nll_sum(Context& context, const Tensor& output, const Tensor& target);

struct TinyRun {
  parallel::Layout layout = {};
  std::vector<std::int64_t> batches = {8, 8};  // samples of each step's global batch
  parallel::LocalOptions local = {};
  parallel::WorkerOptions options = {};
  int threads = 1;
  // Called on each rank after the last step.
  std::function<void(parallel::Worker&, Optimizer&)> then = nullptr;
};

struct TinyResult {
  std::vector<double> losses;
  std::map<std::string, std::vector<float>> state;  // parameters and optimiser
  std::vector<parallel::RankReport> reports;
  std::vector<parallel::Plan> plans;  // by rank
  parallel::ModelCut cut;
  std::vector<std::int64_t>
      step_growth;  // by rank: live bytes after the last step less those after the first
};

// With SGD and momentum. Samples of step s and their targets depend on s and the sample alone.
TinyResult train(const TinyRun& run);

std::vector<std::shared_ptr<Context>> make_contexts(int ranks, int threads = 1);
Tensor tiny_input(Context& context, std::int64_t step, parallel::Range samples);
Tensor tiny_target(Context& context, std::int64_t step, parallel::Range samples);

// "same", or the first name that differs.
std::string difference(const TinyResult& a, const TinyResult& b);

}  // namespace warpline::test
