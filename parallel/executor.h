// The interpreter: runs one rank's list of a plan on real tensors. The host goes through the list in order;
// sends, receives and reductions leave for the communicator and run beside what follows:
//
//   Recv         posts a fresh tensor; the action that needs it waits for it
//   Forward      waits for its Recv, keeps the micro-batch; on the last stage computes the loss
//   Backward     starts from the received gradient, or on the last stage from the seed; frees the micro-batch
//   Send         the tensor lives until the message is done
//   ReduceGrads  a bucket leaves as soon as it is full, also from inside the Backward just before it
//   Step         waits for all messages and reductions, then the optimiser runs
//
// Neighbouring stages on one rank hand tensors over. Micro-batches without samples, and gradients of inputs
// that want none, are passed over by all ranks alike: all of them know the sizes and the model.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "parallel/blocks.h"
#include "parallel/communicator.h"
#include "parallel/gradient_reducer.h"
#include "parallel/observer.h"
#include "parallel/plan.h"
#include "parallel/stage.h"

namespace warpline::parallel {

// What the list is run on. Functions are called with a micro-batch of the list.
struct Feed {
  std::vector<Range> samples;                        // of each micro-batch, as global indices; may be empty
  std::int64_t first_block = 0;                      // global index of micro-batch 0
  std::function<Tensor(int micro)> input;            // first stage
  std::function<Tensor(int micro)> target;           // last stage, training
  std::function<void(int micro, double loss)> loss;  // last stage, training
  std::function<void(int micro, const Tensor& output)> output;  // last stage, inference
  double seed = 1.0;                                            // gradient of each block's loss
  std::function<void()> step;                                   // the optimiser
};

// A stage of the plan that this rank holds. The reducer is null for inference.
struct HeldStage {
  Stage* stage = nullptr;
  GradientReducer* reducer = nullptr;
};

class Executor {
 public:
  // pipeline: the ranks of the plan. sample_shapes: of one sample at the input of each stage of the plan.
  // held: by stage of the plan.
  Executor(Context& context, std::shared_ptr<Communicator> pipeline, int stages,
           std::vector<Shape> sample_shapes, std::vector<bool> input_wants_gradient,
           std::map<int, HeldStage> held, Observer& observer);

  // An error inside an action is thrown with the action's place in the list (parallel/action_error.h).
  void run(const std::vector<Action>& list, const Feed& feed);

 private:
  struct Parcel {  // a tensor on its way
    Tensor tensor;
    Work work;           // the call that moves it
    bool local = false;  // none: it was handed over on this rank
  };
  using Key = std::tuple<Payload, int, int>;  // payload, stage that it is for (or from), micro-batch

  bool skipped(const Action& action) const;
  void act(const Action& action);
  void act_observed(const Action& action);
  void forward(const Action& action);
  void backward(const Action& action);
  void receive(const Action& action);
  void send(const Action& action);
  void hand_on(Payload payload, int stage, int micro, Tensor tensor);
  Tensor take(Payload payload, int stage, int micro);
  void reduce_ready();
  void drop_sent();
  void finish_sends();
  void step();
  bool first(int stage) const { return stage == 0; }
  bool last(int stage) const { return stage == stages_ - 1; }

  Context& context_;
  std::shared_ptr<Communicator> pipeline_;
  int stages_;
  std::vector<Shape> sample_shapes_;
  std::vector<bool> input_wants_gradient_;
  std::map<int, HeldStage> held_;
  Observer& observer_;

  // Of the run in progress.
  const std::vector<Action>* list_ = nullptr;
  const Feed* feed_ = nullptr;
  std::size_t next_ = 0;          // first action not begun
  std::map<Key, Parcel> inbox_;   // by the stage that needs it
  std::map<Key, Tensor> outbox_;  // by the stage that made it
  std::deque<Parcel> sent_;
};

}  // namespace warpline::parallel
