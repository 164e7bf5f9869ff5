#include "parallel/executor.h"

#include <utility>

#include "kernels/error.h"
#include "kernels/named_range.h"
#include "parallel/action_error.h"
#include "parallel/tokens.h"

namespace warpline::parallel {

namespace {

constexpr std::size_t kMostSent = 16;  // messages of a rank that the others have not taken

}  // namespace

Executor::Executor(Context& context, std::shared_ptr<Communicator> pipeline, int stages,
                   std::vector<Shape> sample_shapes, std::vector<bool> input_wants_gradient,
                   std::map<int, HeldStage> held, Observer& observer)
    : context_(context),
      pipeline_(std::move(pipeline)),
      stages_(stages),
      sample_shapes_(std::move(sample_shapes)),
      input_wants_gradient_(std::move(input_wants_gradient)),
      held_(std::move(held)),
      observer_(observer) {
  for (auto& [index, held_stage] : held_) {
    if (held_stage.reducer != nullptr) held_stage.reducer->set_on_ready([this] { reduce_ready(); });
  }
}

void Executor::run(const std::vector<Action>& list, const Feed& feed) {
  list_ = &list;
  feed_ = &feed;
  next_ = 0;
  inbox_.clear();
  outbox_.clear();
  sent_.clear();
  std::size_t current = 0;
  try {
    while (next_ < list.size()) {
      current = next_++;
      if (!skipped(list[current])) act_observed(list[current]);
      drop_sent();
    }
    finish_sends();
  } catch (...) {
    rethrow_in_action(std::current_exception(), pipeline_->rank(), list, current);
  }
}

bool Executor::skipped(const Action& action) const {
  if (action.micro < 0) return false;
  if (feed_->samples[static_cast<std::size_t>(action.micro)].size() == 0) return true;
  if (!is_message(action.op) || action.payload == Payload::Activation) return false;
  const int behind = action.op == Op::Send ? action.stage : action.peer_stage;
  return !input_wants_gradient_[static_cast<std::size_t>(behind)];
}

void Executor::act_observed(const Action& action) {
  const NamedRange range(to_token(action));
  observer_.before(action);
  act(action);
  observer_.after(action);
}

void Executor::act(const Action& action) {
  switch (action.op) {
    case Op::Forward:
      return forward(action);
    case Op::BackwardInput:
    case Op::BackwardWeight:
    case Op::Backward:
      return backward(action);
    case Op::Send:
      return send(action);
    case Op::Recv:
      return receive(action);
    case Op::ReduceGrads:
      held_.at(action.stage).reducer->reduce(action.bucket);
      return;
    case Op::Step:
      return step();
  }
}

void Executor::forward(const Action& action) {
  Stage& stage = *held_.at(action.stage).stage;
  const Tensor input = first(action.stage) ? feed_->input(action.micro)
                                           : take(Payload::Activation, action.stage, action.micro);
  context_.random.sample = feed_->samples[static_cast<std::size_t>(action.micro)].begin;
  Tensor output =
      held_.at(action.stage).reducer == nullptr ? stage.infer(input) : stage.forward(action.micro, input);
  if (!last(action.stage)) return hand_on(Payload::Activation, action.stage, action.micro, std::move(output));
  if (feed_->output) return feed_->output(action.micro, output);
  feed_->loss(action.micro, stage.loss(action.micro, feed_->target(action.micro)));
}

void Executor::backward(const Action& action) {
  const HeldStage& held = held_.at(action.stage);
  Tensor gradient;
  if (action.op != Op::BackwardWeight && !last(action.stage) &&
      input_wants_gradient_[static_cast<std::size_t>(action.stage + 1)]) {
    gradient = take(Payload::Gradient, action.stage, action.micro);
  }
  if (action.op != Op::BackwardInput) held.reducer->begin_block(feed_->first_block + action.micro);
  Tensor result;
  if (action.op == Op::Backward) {
    result = held.stage->backward(action.micro, gradient, feed_->seed, *held.reducer);
  } else if (action.op == Op::BackwardInput) {
    result = held.stage->backward_input(action.micro, gradient, feed_->seed);
  } else {
    held.stage->backward_weight(action.micro, *held.reducer);
  }
  if (action.op != Op::BackwardInput) {
    held.reducer->end_block();
    reduce_ready();
  }
  if (result.defined()) hand_on(Payload::Gradient, action.stage, action.micro, std::move(result));
}

// To the stage behind (activation) or before (gradient): at once where this rank holds it, else to its Send.
void Executor::hand_on(Payload payload, int stage, int micro, Tensor tensor) {
  const int to = payload == Payload::Activation ? stage + 1 : stage - 1;
  if (held_.contains(to)) {
    inbox_[{payload, to, micro}] = {std::move(tensor), Work(), true};
  } else {
    outbox_[{payload, stage, micro}] = std::move(tensor);
  }
}

Tensor Executor::take(Payload payload, int stage, int micro) {
  auto parcel = inbox_.extract({payload, stage, micro});
  if (parcel.empty()) {
    fail<Failure>("executor", "the {} of stage {}, micro-batch {} has not been received or made",
                  payload == Payload::Activation ? "input" : "output's gradient", stage, micro);
  }
  if (!parcel.mapped().local) wait_observed(parcel.mapped().work, observer_);
  return std::move(parcel.mapped().tensor);
}

void Executor::receive(const Action& action) {
  // The output of a stage has the shape of the next one's input.
  const int shape_of = action.payload == Payload::Activation ? action.stage : action.stage + 1;
  Shape shape = sample_shapes_[static_cast<std::size_t>(shape_of)];
  shape.insert(shape.begin(), feed_->samples[static_cast<std::size_t>(action.micro)].size());
  const Tensor tensor = Tensor::empty(context_, shape);
  const Work work = pipeline_->recv(tensor, action.peer_rank, context_.stream(), action.ticket);
  inbox_[{action.payload, action.stage, action.micro}] = {tensor, work, false};
}

void Executor::send(const Action& action) {
  auto made = outbox_.extract({action.payload, action.stage, action.micro});
  if (made.empty()) fail<Failure>("executor", "the tensor to send has not been made");
  const Work work = pipeline_->send(made.mapped(), action.peer_rank, context_.stream(), action.ticket);
  sent_.push_back({std::move(made.mapped()), work, false});
  // Else the tensors of a long stream pile up before a slower rank. Messages leave in this order anyway, and
  // their tickets rise on all ranks, so whoever waits here waits for a lower ticket than its own next one: no
  // cycle.
  for (; sent_.size() > kMostSent; sent_.pop_front()) wait_observed(sent_.front().work, observer_);
}

// Starts the reductions that follow directly in the list and whose buckets are full. Not those behind a Send:
// the two communicators are used in one order on all ranks.
void Executor::reduce_ready() {
  while (next_ < list_->size() && (*list_)[next_].op == Op::ReduceGrads) {
    const Action& action = (*list_)[next_];
    if (!held_.at(action.stage).reducer->ready(action.bucket)) return;
    ++next_;
    act_observed(action);
  }
}

void Executor::drop_sent() {
  while (!sent_.empty() && sent_.front().work.done()) {
    sent_.front().work.wait();  // for its error
    sent_.pop_front();
  }
}

void Executor::finish_sends() {
  for (; !sent_.empty(); sent_.pop_front()) wait_observed(sent_.front().work, observer_);
}

void Executor::step() {
  finish_sends();
  for (auto& [index, held] : held_) held.reducer->finish(observer_);
  feed_->step();
  for (auto& [index, held] : held_) held.reducer->release();
}

}  // namespace warpline::parallel
