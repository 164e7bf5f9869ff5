// A deferred stream. Work that is put on it runs only as far as somebody waits for it, on the waiting thread:
// a copy or a kernel that another stream should have waited for shows its stale result on a laptop. The order
// seed says how far other streams run ahead at each wait: 0 not at all, 1 to their ends, others as drawn.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>

#include "kernels/emu/clock.h"
#include "kernels/stream.h"

namespace warpline::emu {

// When a piece of work runs, and for whom: piece `position` of queue number `queue`, after what the clock
// holds. A piece that waits for more adds it to the clock.
class Queue;
struct Moment {
  Queue* owner = nullptr;  // null: the host runs it itself
  std::size_t queue = 0;
  std::uint64_t position = 0;
  Clock clock;
};

// Thread-safe. Work runs one piece at a time, in order. After a piece has thrown, the others up to the next
// synchronize() are dropped.
class Queue : public std::enable_shared_from_this<Queue> {
 public:
  using Work = std::function<void(Moment&)>;

  static std::shared_ptr<Queue> open(int device, ThreadPool* pool);
  void close() noexcept;  // waits; what failed is not told

  void push(Work work);

  // A point in a queue: behind all that was put there before it.
  struct Mark {
    std::shared_ptr<Queue> queue;
    std::uint64_t position = 0;
    std::shared_ptr<Clock> clock;  // once it is reached
  };
  Mark mark();
  // What is put here from now on waits for the mark, or for what `other` holds now.
  void wait_for(const Mark& mark);
  void wait_for(Queue& other);
  // The host waits. Throws what failed first since the last time that it waited for this queue.
  static void reach(const Mark& mark);
  void synchronize();
  static bool is_reached(const Mark& mark);
  // For a host that asks until all is done: runs one piece more. False: none is left.
  bool step();
  // For work that goes on in spite of an error: the next synchronize() throws it.
  void note(std::exception_ptr error);

 private:
  Queue(int device, ThreadPool* pool, std::size_t number) : device_(device), pool_(pool), number_(number) {}
  void run_until(std::uint64_t position);
  std::uint64_t end() const;
  void take_error(const Clock& reached);
  static void let_others_run_ahead(const Queue* but);

  const int device_;
  ThreadPool* const pool_;
  const std::size_t number_;  // of all queues that ever were, from 1 on
  // Under one mutex for all queues.
  struct Piece {
    Work work;
    Clock host;  // what the host had waited for when it put the piece here
  };
  std::deque<Piece> work_;
  std::uint64_t done_ = 0;
  bool running_ = false;
  std::exception_ptr error_;
  bool dropping_ = false;
  Clock clock_;  // of what is done
};

// Puts the work on the stream's queue; without a native stream it runs at once.
void put(const Stream& stream, Queue::Work work);

}  // namespace warpline::emu
