#include "kernels/emu/queue.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/emu/order.h"

namespace warpline::emu {

namespace {

// As many launches as a stream of CUDA holds before a launch waits.
constexpr std::size_t kMostPending = 1024;

std::mutex mutex;
std::condition_variable progress;

// What the host has waited for.
Clock host_clock;

std::vector<std::shared_ptr<Queue>>& open_queues() {
  static std::vector<std::shared_ptr<Queue>> queues;
  return queues;
}

}  // namespace

std::shared_ptr<Queue> Queue::open(int device, ThreadPool* pool) {
  static std::size_t opened = 0;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Queue> queue(new Queue(device, pool, ++opened));
  open_queues().push_back(queue);
  return queue;
}

void Queue::close() noexcept {
  run_until(end());
  const std::lock_guard lock(mutex);
  host_clock.merge(clock_);
  auto& queues = open_queues();
  queues.erase(std::find(queues.begin(), queues.end(), shared_from_this()));
}

void Queue::push(Work work) {
  std::uint64_t wanted = 0;
  {
    const std::lock_guard lock(mutex);
    work_.push_back({std::move(work), host_clock});
    if (work_.size() > kMostPending) wanted = done_ + 1;
  }
  if (wanted != 0) run_until(wanted);
}

Queue::Mark Queue::mark() {
  Mark mark{shared_from_this(), 0, std::make_shared<Clock>()};
  push([clock = mark.clock](const Moment& moment) { *clock = moment.clock; });
  mark.position = end();
  return mark;
}

void Queue::wait_for(const Mark& mark) {
  if (mark.queue.get() == this) return;
  push([mark](Moment& moment) {
    mark.queue->run_until(mark.position);
    moment.clock.merge(*mark.clock);
  });
}

void Queue::wait_for(Queue& other) {
  if (&other != this) wait_for(other.mark());
}

void Queue::reach(const Mark& mark) {
  let_others_run_ahead(mark.queue.get());
  mark.queue->run_until(mark.position);
  Clock reached = *mark.clock;
  reached.set(mark.queue->number_, mark.position);
  mark.queue->take_error(reached);
}

void Queue::synchronize() {
  let_others_run_ahead(this);
  run_until(end());
  Clock reached;
  {
    const std::lock_guard lock(mutex);
    reached = clock_;
  }
  take_error(reached);
}

bool Queue::is_reached(const Mark& mark) {
  const std::lock_guard lock(mutex);
  return mark.queue->done_ >= mark.position;
}

bool Queue::step() {
  std::uint64_t next = 0;
  {
    const std::lock_guard lock(mutex);
    if (work_.empty() && !running_) return false;
    next = done_ + 1;
  }
  run_until(next);
  return true;
}

void Queue::take_error(const Clock& reached) {
  std::exception_ptr error;
  {
    const std::lock_guard lock(mutex);
    error = std::exchange(error_, nullptr);
    dropping_ = false;
    host_clock.merge(reached);
  }
  if (error) std::rethrow_exception(error);
}

std::uint64_t Queue::end() const {
  const std::lock_guard lock(mutex);
  return done_ + work_.size() + (running_ ? 1 : 0);
}

// Threads that wait for each other's queues cannot wait in a circle: a piece waits only for what was put on
// the other queue before it.
void Queue::run_until(std::uint64_t position) {
  std::unique_lock lock(mutex);
  while (done_ < position) {
    if (running_) {
      progress.wait(lock);
      continue;
    }
    running_ = true;
    Piece piece = std::move(work_.front());
    work_.pop_front();
    const bool dropped = dropping_;
    Moment now{this, number_, done_ + 1, clock_};
    lock.unlock();
    now.clock.merge(piece.host);
    std::exception_ptr error;
    if (!dropped) {
      try {
        piece.work(now);
      } catch (...) {
        error = std::current_exception();
      }
    }
    piece = {};  // what it keeps alive may end with calls to this queue
    lock.lock();
    if (error) {
      if (!error_) error_ = error;
      dropping_ = true;
    }
    running_ = false;
    clock_ = std::move(now.clock);
    clock_.set(number_, ++done_);
    progress.notify_all();
  }
}

void Queue::note(std::exception_ptr error) {
  const std::lock_guard lock(mutex);
  if (!error_) error_ = std::move(error);
}

void Queue::let_others_run_ahead(const Queue* but) {
  const std::uint64_t seed = order_seed();
  if (seed == 0) return;
  std::vector<std::pair<std::shared_ptr<Queue>, std::uint64_t>> others;
  {
    const std::lock_guard lock(mutex);
    for (const std::shared_ptr<Queue>& queue : open_queues()) {
      if (queue.get() == but || queue->work_.empty()) continue;
      const std::uint64_t pending = queue->work_.size();
      const std::uint64_t ahead = seed == 1 ? pending : place_in_order(queue->done_ % pending, pending, seed);
      others.emplace_back(queue, queue->done_ + ahead);
    }
  }
  for (const auto& [queue, position] : others) queue->run_until(position);
}

void put(const Stream& stream, Queue::Work work) {
  if (auto* queue = static_cast<Queue*>(stream.native)) {
    queue->push(std::move(work));
    return;
  }
  Moment now;  // the host's own pieces are all one, queue 0's first
  now.position = 1;
  now.clock.set(0, 1);
  work(now);
}

}  // namespace warpline::emu
