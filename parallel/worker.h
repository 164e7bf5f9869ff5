// One rank's share of a run: its layers, its part of every batch, its messages. The same code serves all
// strategies, for each is a layout:
//
//   serial 1 x 1    data N x 1    layer 1 x n (schedule naive)    pipeline 1 x n    hybrid N x n
//
//   run_local(contexts, options, [&](int, std::shared_ptr<Communicator> world) {
//     Sequential model = make_net();  // each rank its own: parameters exist only where they are held
//     Worker worker(context, model, {1, 28, 28}, nll_sum, layout, world, {.seed = 1});
//     Sgd optimizer(worker.parameters(), ...);
//     for (...) {
//       const Range mine = worker.samples(global_count);  // of the global batch
//       worker.train_step({input, target, global_count}, optimizer);
//     }
//     const std::vector<double> losses = worker.gather_losses();  // on rank 0
//   });
//
// Calls marked "collective" must be made by all ranks in the same order. Errors: BadInput types for what a
// user asked wrongly, the same on every rank; an error inside an action carries the action's token and
// position.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/nn/module.h"
#include "kernels/error.h"
#include "parallel/blocks.h"
#include "parallel/buckets.h"
#include "parallel/communicator.h"
#include "parallel/layout.h"
#include "parallel/model_state.h"
#include "parallel/plan.h"
#include "parallel/report.h"
#include "parallel/stage.h"
#include "parallel/trace.h"

namespace warpline::parallel {

struct WorkerOptions {
  std::uint64_t seed = 1;
  bool trace = false;  // collect events for gather_trace()
  BucketLimits buckets = {};
};

// This replica's samples of one global batch, in order.
struct Batch {
  Tensor input;            // [samples, ...]; needed where needs_input()
  Tensor target;           // [samples, ...]; needed where needs_target()
  std::int64_t count = 0;  // samples of the global batch, over all replicas
  // Samples of the optimiser step, by which the loss is divided; 0: count. Larger when this batch is one of
  // several that are accumulated.
  std::int64_t step_count = 0;
};

class Worker {
 public:
  // Collective. `world` has N n ranks; rank = replica * n + stage. Cuts the model, makes and validates the
  // plan, materialises this rank's layers, and makes sure that all ranks agree on all of it. ValueError: more
  // stages than layers, fewer micro-batches than replicas, an unknown schedule, a shape that it refuses,
  // a world of another size.
  Worker(Context& context, const Sequential& model, const Shape& sample_shape, LossFunction loss,
         const Layout& layout, std::shared_ptr<Communicator> world, const WorkerOptions& options = {});
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  int rank() const;
  int replica() const;
  int stage() const;  // pipeline rank
  bool needs_input() const;
  bool needs_target() const;
  // Which samples of a global batch of `count` this replica computes. ValueError where count < 1.
  Range samples(std::int64_t count) const;
  std::vector<Parameter*> parameters() const;  // that this rank holds
  const Plan& plan() const;                    // of this replica's training step
  const ModelCut& cut() const;                 // in force

  // Collective. One optimiser step on one global batch.
  void train_step(const Batch& batch, Optimizer& optimizer);
  // Collective. Forward and backward only, no gradient leaves the replica: they are added up, and the next
  // train_step() reduces them, once, with its own (what PyTorch calls no_sync).
  void accumulate(const Batch& batch);
  // Collective. On rank 0 the mean loss of each optimiser step since the last call; empty elsewhere.
  std::vector<double> gather_losses();

  // Collective. Streams the batches (sizes: samples of each) through the stages, several in flight. `input`
  // is asked on ranks that need it, for this replica's batches, in order. `output` is called on rank 0, in
  // order, after the last. Returns the seconds that the stream took.
  double infer(const std::vector<std::int64_t>& sizes, const std::function<Tensor(std::int64_t batch)>& input,
               const std::function<void(std::int64_t batch, const Tensor& output)>& output);
  // Collective. How many of `samples` samples have their largest output at the target, on every rank. Each
  // sample counts once, however many ranks there are. `load` gives samples [begin, end); only what
  // needs_input() and needs_target() ask for.
  std::int64_t evaluate(std::int64_t samples, std::int64_t batch_size,
                        const std::function<Batch(std::int64_t begin, std::int64_t end)>& load);

  // Collective. The whole model's parameters, and the optimiser's state where there is one, on rank 0; empty
  // elsewhere. The same whatever the layout.
  State gather_state(const Optimizer* optimizer = nullptr);
  // Each rank takes its part of a whole state. ValueError or ShapeError naming the first tensor that is
  // missing or does not fit; nothing is changed then.
  void load_state(const State& state, Optimizer* optimizer = nullptr);

  RankReport report() const;
  std::vector<RankReport> gather_reports();  // collective; on rank 0, by rank
  std::vector<TraceEvent> gather_trace();    // collective; on rank 0

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpline::parallel
