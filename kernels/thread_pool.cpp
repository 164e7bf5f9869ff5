// How a pool hands out pieces. The caller opens a job in one atomic word, works itself, closes the job when
// no piece is left and waits for the workers inside. A worker that wakes too late finds the job closed and
// sleeps again, so a caller never waits for a thread that the system has not scheduled yet. Waiting is a
// short burst of yields (ops of a training step follow each other within microseconds), then sleep: several
// ranks share a few cores.
#include "kernels/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/error.h"
#include "kernels/poison.h"

namespace warpline {

namespace {

// The job word: a generation in the high half, then the open bit, then the number of workers inside.
constexpr std::uint64_t kOpen = std::uint64_t{1} << 31;
constexpr std::uint64_t kInside = kOpen - 1;
constexpr std::uint64_t kGeneration = std::uint64_t{1} << 32;

constexpr int kYields = 60;

}  // namespace

struct ThreadPool::State {
  explicit State(int threads) : size(threads) {
    try {
      for (int worker = 1; worker < size; ++worker) {
        workers.emplace_back([this, worker] { serve(worker); });
      }
    } catch (const std::system_error& error) {
      const std::size_t running = workers.size() + 1;
      stop();
      fail<Failure>("thread_pool", "thread {} of {} could not be started: {}; use fewer threads or ranks",
                    running + 1, size, error.what());
    }
  }

  ~State() { stop(); }

  void stop() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    wake.notify_all();
    for (std::thread& worker : workers) worker.join();
    workers.clear();
  }

  void run(std::int64_t count, FunctionRef<void(std::int64_t, int)> job) {
    body = &job;
    pieces = count;
    next.store(0, std::memory_order_relaxed);
    error = nullptr;
    error_piece = count;
    // Opening publishes the fields above; seq_cst orders it against `sleepers` (see sleep()).
    word.store(((word.load(std::memory_order_relaxed) / kGeneration + 1) * kGeneration) | kOpen);
    const auto helpers = static_cast<int>(std::min<std::int64_t>(count, size) - 1);
    if (sleepers.load() > 0) {
      { const std::lock_guard lock(mutex); }
      for (int i = 0; i < helpers; ++i) wake.notify_one();
    }
    work(0);
    word.fetch_and(~kOpen);
    await_helpers();
    body = nullptr;
    if (error) std::rethrow_exception(std::exchange(error, nullptr));
  }

 private:
  void work(int worker) {
    for (;;) {
      const std::int64_t piece = next.fetch_add(1, std::memory_order_relaxed);
      if (piece >= pieces) return;
      try {
        (*body)(piece, worker);
      } catch (...) {
        // Pieces are handed out in order, so every lower piece has begun and will report as well.
        const std::lock_guard lock(mutex);
        if (piece < error_piece) {
          error_piece = piece;
          error = std::current_exception();
        }
        next.store(pieces, std::memory_order_relaxed);
      }
    }
  }

  void await_helpers() {
    const auto idle = [this] { return (word.load() & kInside) == 0; };
    for (int i = 0; i < kYields; ++i) {
      if (idle()) return;
      std::this_thread::yield();
    }
    std::unique_lock lock(mutex);
    caller_sleeps.store(true);
    done.wait(lock, idle);
    caller_sleeps.store(false);
  }

  // Enters the open job unless this worker has seen its generation. True: inside.
  bool enter(std::uint64_t& seen) {
    std::uint64_t now = word.load();
    while ((now & kOpen) != 0 && now / kGeneration != seen) {
      if (word.compare_exchange_weak(now, now + 1)) {
        seen = now / kGeneration;
        return true;
      }
    }
    return false;
  }

  void leave() {
    const std::uint64_t before = word.fetch_sub(1);
    if ((before & kInside) == 1 && (before & kOpen) == 0 && caller_sleeps.load()) {
      { const std::lock_guard lock(mutex); }
      done.notify_one();
    }
  }

  // Announces itself before it looks at the word a last time: either it sees the job, or the caller sees it.
  bool sleep(std::uint64_t& seen) {
    std::unique_lock lock(mutex);
    ++sleepers;
    bool inside = false;
    wake.wait(lock, [&] { return stopping || (inside = enter(seen)); });
    --sleepers;
    return inside;
  }

  void serve(int worker) {
    std::uint64_t seen = 0;
    for (;;) {
      bool inside = false;
      for (int i = 0; i < kYields && !inside; ++i) {
        inside = enter(seen);
        if (!inside) std::this_thread::yield();
      }
      if (!inside && !sleep(seen)) return;
      work(worker);
      leave();
    }
  }

 public:
  const int size;

 private:
  const FunctionRef<void(std::int64_t, int)>* body = nullptr;
  std::int64_t pieces = 0;
  std::exception_ptr error;      // guarded by mutex
  std::int64_t error_piece = 0;  // guarded by mutex
  bool stopping = false;         // guarded by mutex
  std::mutex mutex;
  std::condition_variable wake, done;
  std::atomic<int> sleepers{0};
  std::atomic<bool> caller_sleeps{false};
  alignas(64) std::atomic<std::uint64_t> word{0};
  alignas(64) std::atomic<std::int64_t> next{0};
  std::vector<std::thread> workers;
};

ThreadPool::ThreadPool(int threads) {
  if (threads < 1) {
    fail<ValueError>("thread pool", "at least one thread is needed: {} asked for; give 1 or more", threads);
  }
  state_ = std::make_unique<State>(threads);
}

ThreadPool::~ThreadPool() = default;

int ThreadPool::size() const { return state_->size; }

void ThreadPool::run(std::int64_t pieces, FunctionRef<void(std::int64_t piece, int worker)> body) {
  if (state_->size > 1 && pieces > 1) {
    state_->run(pieces, body);
  } else {
    for (std::int64_t piece = 0; piece < pieces; ++piece) body(piece, 0);
  }
}

struct Scratch::State {
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(void* memory) const { ::operator delete(memory, kAlignment); }
  };
  struct Buffer {
    std::unique_ptr<void, Free> memory;
    std::size_t bytes = 0;
    std::size_t owned = 0;  // by the last get(); what lies behind is poisoned in sanitizer builds
  };
  // A cache line of its own, so that workers do not slow each other down.
  struct alignas(64) Worker {
    Buffer slots[kSlots];
  };
  std::vector<Worker> workers;
};

Scratch::Scratch(int workers) : state_(std::make_unique<State>()) {
  if (workers < 1) {
    fail<ValueError>("scratch", "at least one worker is needed: {} asked for; give the pool's size", workers);
  }
  state_->workers = std::vector<State::Worker>(static_cast<std::size_t>(workers));
}

Scratch::~Scratch() = default;

void* Scratch::get(int worker, int slot, std::size_t bytes) {
  State::Buffer& buffer = state_->workers[static_cast<std::size_t>(worker)].slots[slot];
  if (buffer.bytes < bytes || !buffer.memory) {
    // Doubling keeps the number of growths small when shapes creep up.
    const std::size_t wanted = std::max({bytes, 2 * buffer.bytes, std::size_t{4096}});
    buffer.memory.reset();
    buffer.bytes = 0;
    buffer.memory.reset(::operator new(wanted, State::kAlignment));
    buffer.bytes = buffer.owned = wanted;
  }
  poison(buffer.memory.get(), buffer.owned);
  unpoison(buffer.memory.get(), bytes);
  buffer.owned = bytes;
  return buffer.memory.get();
}

}  // namespace warpline
