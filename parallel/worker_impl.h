// What a Worker is made of. For the worker's own files only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "parallel/executor.h"
#include "parallel/gradient_reducer.h"
#include "parallel/mesh.h"
#include "parallel/recorder.h"
#include "parallel/stage.h"
#include "parallel/worker.h"

namespace warpline::parallel {

// The losses of one pass over a batch, as far as this rank computed them.
struct PassLosses {
  std::int64_t live = 0;        // blocks
  std::int64_t step_count = 0;  // by which the step's loss is divided
  bool ends_step = false;
  std::vector<double> blocks;  // of this rank's live blocks, by index; empty but on the last stage
};

struct Worker::Impl {
  Impl(Context& context, const Sequential& whole, const Shape& sample_shape, LossFunction loss,
       const Layout& layout, std::shared_ptr<Communicator> world, const WorkerOptions& options);

  std::vector<double> layer_costs(const Shape& sample_shape);
  std::vector<int> choose_cuts(const std::vector<double>& costs) const;
  void hold_stages(LossFunction loss);
  std::map<int, HeldStage> held(bool training) const;

  bool holds_first() const { return stages.contains(0); }
  bool holds_last() const { return stages.contains(plan.stages - 1); }
  // World rank of the last stage of a replica.
  int last_rank(int of_replica) const {
    return Mesh(layout.replicas, layout.ranks).rank(of_replica, plan.stage_to_rank.back());
  }

  void check_batch(const Batch& batch, Range mine) const;
  // Forward and backward of one batch; with `step`, reductions and the optimiser as well.
  void pass(const Batch& batch, const std::vector<Action>& actions, const std::function<void()>& step);
  // Sends this replica's batches through its stages, forward only.
  void stream(const std::vector<Range>& batches, const std::function<Tensor(int)>& input,
              const std::function<void(int, const Tensor&)>& output, Traffic& traffic);
  // Runs a list and adds what was sent meanwhile to `traffic`.
  void run(Executor& executor, Recorder& recorder, const std::vector<Action>& actions, const Feed& feed,
           Traffic& traffic);

  // An error of this rank ends the others' waits as well, whoever runs the ranks.
  template <class Body>
  void guarded(Body body) {
    try {
      body();
    } catch (...) {
      world->abort(std::current_exception());
      throw;
    }
  }

  Context& context;
  Sequential model;
  Layout layout;
  WorkerOptions options;
  std::shared_ptr<Communicator> world, pipeline, replicas;
  Recorder train_recorder, stream_recorder;
  std::shared_ptr<CallLog> calls;  // where traces are wanted
  int replica = 0;
  Range owned;  // blocks of this replica
  ModelCut cut;
  Plan plan;
  std::vector<Action> list, accumulate_list;  // of this rank, with and without reductions and step
  std::vector<Parameter*> parameters;
  std::map<int, std::unique_ptr<Stage>> stages;  // by stage of the plan
  std::map<int, std::unique_ptr<GradientReducer>> reducers;
  std::unique_ptr<Executor> trainer, streamer;
  Traffic trained, streamed;
  std::int64_t steps = 0;
  std::vector<PassLosses> pass_losses;  // since the last gather
};

}  // namespace warpline::parallel
