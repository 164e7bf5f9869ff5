#include "parallel/fifo_communicator.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "kernels/runtime.h"
#include "parallel/caught_error.h"
#include "parallel/trace.h"

namespace warpline::parallel {
namespace {

using Clock = std::chrono::steady_clock;

Clock::duration to_duration(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// Calls work on memory, on the communication thread: what the caller's stream still has to do for it comes
// first.
void wait_for(const Stream& stream) { runtime(stream.device.kind).synchronize(stream); }

// Views share memory, not history, so that a call in flight keeps no graph alive. Writing is an in-place
// change, counted where the caller's thread can see it.
Tensor reads(const Tensor& tensor) { return slice(tensor, {0, tensor.count()}); }
Tensor writes(const Tensor& tensor) {
  tensor.storage()->bump_version();
  return reads(tensor);
}

void check_parts(const char* tag, const Tensor& small, const Tensor& large, int ranks) {
  if (small.dtype() != large.dtype()) {
    fail<DTypeError>(tag, "input and output have one dtype: {} against {}",
                     warpline::to_string(small.dtype()), warpline::to_string(large.dtype()));
  }
  if (large.count() != small.count() * ranks) {
    fail<ShapeError>(tag, "the larger tensor holds one part for each of {} ranks: {} elements against {}",
                     ranks, large.count(), small.count());
  }
}

bool overlap(const Tensor& a, const Tensor& b) {
  const auto* first = static_cast<const std::byte*>(a.data());
  const auto* second = static_cast<const std::byte*>(b.data());
  const std::less<> before;
  return before(first, second + b.bytes()) && before(second, first + a.bytes());
}

}  // namespace

// One entry of the FIFO: a group of messages, or a collective.
struct FifoCommunicator::Call {
  std::vector<std::shared_ptr<Pending>> works;  // one a message; of a collective, one
  std::vector<Message> messages;
  std::int64_t collective = -1;
  Body body;
};

struct FifoCommunicator::Queue {
  Queue(std::shared_ptr<PointToPoint> transport_of_queue, double timeout)
      : transport(std::move(transport_of_queue)), timeout_seconds(timeout) {}

  const std::shared_ptr<PointToPoint> transport;
  const double timeout_seconds;

  std::mutex mutex;
  std::condition_variable arrived;    // a call, or the end
  std::condition_variable completed;  // a call
  std::deque<Call> calls;             // the first one is being worked on
  bool stopping = false;
  Clock::time_point last_completion = Clock::now();
  Traffic traffic;
  std::shared_ptr<CallObserver> observer;
  std::optional<CaughtError> error;  // of this rank; ends every later call

  // Waits until done() holds, under the lock. False: the deadline passed without any progress.
  template <class Done>
  bool wait(std::unique_lock<std::mutex>& lock, Done done) {
    const Clock::time_point start = Clock::now();
    while (!done()) {
      const Clock::time_point deadline = std::max(start, last_completion) + to_duration(timeout_seconds);
      if (Clock::now() >= deadline) return false;
      completed.wait_until(lock, deadline);
    }
    return true;
  }
};

// What a caller's Work stands for.
struct FifoCommunicator::Pending final : Work::State {
  Pending(std::shared_ptr<Queue> queue_of_call, Signature call) : queue(std::move(queue_of_call)) {
    signature = call;
  }
  void wait() override;
  bool done() const override {
    const std::lock_guard lock(queue->mutex);
    return completed;
  }

  const std::shared_ptr<Queue> queue;
  // Under the queue's mutex.
  bool enqueued = false, completed = false;
  std::optional<CaughtError> error;
};

void FifoCommunicator::Pending::wait() {
  std::unique_lock lock(queue->mutex);
  if (!enqueued) {
    fail<ValueError>("communicator", "{} is part of a group that has not ended; end the group first",
                     to_string(signature));
  }
  while (!queue->wait(lock, [&] { return completed; })) {
    lock.unlock();
    queue->transport->time_out(signature, queue->timeout_seconds);
    queue->transport->check();
    lock.lock();
  }
  if (error) error->rethrow();
}

FifoCommunicator::FifoCommunicator(std::unique_ptr<PointToPoint> transport, const FifoOptions& options)
    : transport_(std::move(transport)),
      options_(options),
      queue_(std::make_shared<Queue>(transport_, options.timeout_seconds)),
      thread_([this] { work_off(); }) {}

FifoCommunicator::~FifoCommunicator() {
  const bool unwinding = std::uncaught_exceptions() > 0;
  if (unwinding) transport_->cancel();
  {
    std::unique_lock lock(queue_->mutex);
    queue_->stopping = true;
    queue_->arrived.notify_all();
    if (!unwinding && !queue_->wait(lock, [&] { return queue_->calls.empty(); })) {
      const Signature stuck = queue_->calls.front().works.front()->signature;
      lock.unlock();
      transport_->time_out(stuck, options_.timeout_seconds);
    }
  }
  thread_.join();
  transport_->leave();
}

void FifoCommunicator::check_tensor(CallKind kind, const Tensor& tensor) const {
  const Device device = transport_->context().device();
  if (tensor.device() == device) return;
  fail<DeviceError>("communicator", "{} needs a tensor on this rank's device: it is on {}, the rank is on {}",
                    to_string(kind), warpline::to_string(tensor.device()), warpline::to_string(device));
}

void FifoCommunicator::work_off() {
  Queue& queue = *queue_;
  std::unique_lock lock(queue.mutex);
  while (true) {
    queue.arrived.wait(lock, [&] { return queue.stopping || !queue.calls.empty(); });
    if (queue.calls.empty()) return;
    Call& call = queue.calls.front();  // stays in place while others are pushed behind it
    Traffic traffic;
    std::optional<CaughtError> error = queue.error;
    if (!error) {
      const std::shared_ptr<CallObserver> observer = queue.observer;
      lock.unlock();
      const std::int64_t start_us = now_us();
      error = run(call, traffic);
      if (observer && !error) {
        for (const auto& work : call.works) observer->call_done(work->signature, start_us, now_us());
      }
      lock.lock();
    }
    // Whoever has waited for a call is the only owner of its tensors again.
    call.messages.clear();
    call.body = nullptr;
    for (const auto& work : call.works) {
      work->completed = true;
      work->error = error;
    }
    queue.error = error;
    queue.traffic += traffic;
    queue.last_completion = Clock::now();
    queue.calls.pop_front();
    queue.completed.notify_all();
  }
}

std::optional<CaughtError> FifoCommunicator::run(const Call& call, Traffic& traffic) {
  try {
    std::vector<Signature> signatures;
    for (const auto& work : call.works) signatures.push_back(work->signature);
    transport_->begin(signatures, call.collective);
    if (call.body) {
      Wire wire(*transport_, signatures.front(), call.collective, traffic);
      call.body(wire);
    } else {
      transport_->exchange(call.messages);
      count(call.messages, traffic);
    }
    transport_->context().synchronize();
    transport_->end();
    return std::nullopt;
  } catch (const Cancelled&) {
    return describe(std::current_exception());
  } catch (...) {
    transport_->fail(std::current_exception());
  }
  try {
    transport_->check();
  } catch (...) {
    return describe(std::current_exception());
  }
  return std::nullopt;  // not reached: fail() makes check() throw
}

Work FifoCommunicator::enqueue(Call call) {
  transport_->check();
  const std::lock_guard lock(queue_->mutex);
  if (queue_->error) queue_->error->rethrow();
  for (const auto& work : call.works) work->enqueued = true;
  Work handle(call.works.back());
  queue_->calls.push_back(std::move(call));
  queue_->arrived.notify_one();
  return handle;
}

Work FifoCommunicator::send(const Tensor& tensor, int peer, const Stream& stream, int tag) {
  wait_for(stream);
  return point_to_point(CallKind::Send, tensor, peer, tag);
}

Work FifoCommunicator::recv(const Tensor& tensor, int peer, const Stream& stream, int tag) {
  wait_for(stream);
  return point_to_point(CallKind::Recv, tensor, peer, tag);
}

Work FifoCommunicator::point_to_point(CallKind kind, const Tensor& tensor, int peer, int tag) {
  check_tensor(kind, tensor);
  if (peer < 0 || peer >= size() || peer == rank()) {
    fail<ValueError>("communicator", "{} on {}: rank {} has no peer {}; peers are the other ranks of 0..{}",
                     to_string(kind), name(), rank(), peer, size() - 1);
  }
  transport_->check();
  const bool sends = kind == CallKind::Send;
  auto state = std::make_shared<Pending>(queue_, Signature{.sequence = next_sequence(),
                                                           .kind = kind,
                                                           .count = tensor.count(),
                                                           .dtype = tensor.dtype(),
                                                           .peer = peer,
                                                           .tag = tag});
  Message message{sends, peer, sends ? reads(tensor) : writes(tensor), state->signature};
  if (group_) {
    group_->works.push_back(state);
    group_->messages.push_back(std::move(message));
    return Work(std::move(state));
  }
  Call call;
  call.works.push_back(std::move(state));
  call.messages.push_back(std::move(message));
  return enqueue(std::move(call));
}

void FifoCommunicator::group_begin() {
  if (group_) fail<ValueError>("communicator", "a group is open on {}; groups do not nest", name());
  group_ = std::make_unique<Call>();
}

Work FifoCommunicator::group_end() {
  if (!group_) fail<ValueError>("communicator", "no group is open on {}", name());
  Call call = std::move(*group_);
  group_.reset();
  if (!call.works.empty()) return enqueue(std::move(call));
  auto state = std::make_shared<Pending>(queue_, Signature{});
  state->enqueued = state->completed = true;
  return Work(std::move(state));
}

void FifoCommunicator::group_cancel() { group_.reset(); }

Work FifoCommunicator::collective(Signature signature, Body body) {
  if (group_) {
    fail<ValueError>("communicator", "{} on {}: a group holds send and recv only; end the group first",
                     to_string(signature.kind), name());
  }
  transport_->check();
  signature.sequence = next_sequence();
  Call call;
  call.works.push_back(std::make_shared<Pending>(queue_, signature));
  call.collective = collectives_++;
  call.body = std::move(body);
  return enqueue(std::move(call));
}

Work FifoCommunicator::all_reduce(const Tensor& tensor, ReduceOp op, const Stream& stream) {
  wait_for(stream);
  check_tensor(CallKind::AllReduce, tensor);
  return collective({.kind = CallKind::AllReduce, .count = tensor.count(), .dtype = tensor.dtype(), .op = op},
                    [tensor = writes(tensor), op, algorithm = options_.all_reduce](Wire& wire) {
                      parallel::all_reduce(wire, tensor, op, algorithm);
                    });
}

Work FifoCommunicator::reduce_scatter(const Tensor& input, const Tensor& output, ReduceOp op,
                                      const Stream& stream) {
  wait_for(stream);
  check_tensor(CallKind::ReduceScatter, input);
  check_tensor(CallKind::ReduceScatter, output);
  check_parts("reduce_scatter", output, input, size());
  if (overlap(input, output)) {
    fail<ValueError>("reduce_scatter", "input and output overlap; the output needs memory of its own");
  }
  return collective(
      {.kind = CallKind::ReduceScatter, .count = output.count(), .dtype = input.dtype(), .op = op},
      [input = reads(input), output = writes(output), op](Wire& wire) {
        ring_reduce_scatter(wire, input, output, op);
      });
}

Work FifoCommunicator::all_gather(const Tensor& input, const Tensor& output, const Stream& stream) {
  wait_for(stream);
  check_tensor(CallKind::AllGather, input);
  check_tensor(CallKind::AllGather, output);
  check_parts("all_gather", input, output, size());
  if (overlap(input, output) && slice(output, part(output.count(), size(), rank())).data() != input.data()) {
    fail<ValueError>("all_gather", "input and output overlap, and the input is not rank {}'s place in it",
                     rank());
  }
  return collective(
      {.kind = CallKind::AllGather, .count = input.count(), .dtype = input.dtype()},
      [input = reads(input), output = writes(output)](Wire& wire) { ring_all_gather(wire, input, output); });
}

Work FifoCommunicator::broadcast(const Tensor& tensor, int root, const Stream& stream) {
  wait_for(stream);
  check_tensor(CallKind::Broadcast, tensor);
  if (root < 0 || root >= size()) {
    fail<ValueError>("communicator", "broadcast on {}: root {} is not one of 0..{}", name(), root,
                     size() - 1);
  }
  return collective(
      {.kind = CallKind::Broadcast, .count = tensor.count(), .dtype = tensor.dtype(), .root = root},
      [tensor = rank() == root ? reads(tensor) : writes(tensor), root](Wire& wire) {
        tree_broadcast(wire, tensor, root);
      });
}

Work FifoCommunicator::barrier(const Stream& stream) {
  wait_for(stream);
  return collective({.kind = CallKind::Barrier}, [](Wire& wire) { dissemination_barrier(wire); });
}

// Every rank learns every colour and key, so all agree on who is where without a word more.
std::shared_ptr<Communicator> FifoCommunicator::split(int colour, int key, const std::string& name) {
  const auto choices = std::make_shared<std::vector<std::int64_t>>();  // may outlive a wait that fails
  const std::int64_t index = collectives_;
  collective({.kind = CallKind::Split}, [choices, colour, key](Wire& wire) {
    const std::vector<std::int64_t> mine{colour, key};
    const Tensor all = temporary(wire, 2 * wire.size(), DType::Int64);
    ring_all_gather(wire, Tensor::from_host(wire.context(), mine, {2}), all);
    *choices = all.to_host<std::int64_t>();
  }).wait();
  if (colour < 0) return nullptr;
  std::vector<int> members;
  const auto colour_of = [&](int r) { return (*choices)[2 * static_cast<std::size_t>(r)]; };
  const auto key_of = [&](int r) { return (*choices)[2 * static_cast<std::size_t>(r) + 1]; };
  for (int r = 0; r < size(); ++r) {
    if (colour_of(r) == colour) members.push_back(r);
  }
  std::stable_sort(members.begin(), members.end(), [&](int a, int b) { return key_of(a) < key_of(b); });
  return std::make_shared<FifoCommunicator>(transport_->child(members, index, name), options_);
}

void FifoCommunicator::abort(std::exception_ptr error) { transport_->fail(std::move(error)); }

Traffic FifoCommunicator::traffic() const {
  const std::lock_guard lock(queue_->mutex);
  return queue_->traffic;
}

void FifoCommunicator::observe(std::shared_ptr<CallObserver> observer) {
  const std::lock_guard lock(queue_->mutex);
  queue_->observer = std::move(observer);
}

}  // namespace warpline::parallel
