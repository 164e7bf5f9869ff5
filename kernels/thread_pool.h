// Our own pool. An op is cut into pieces that depend on its shape only, never on the number of threads, so
// that the same command gives the same bits with 1, 2 or 3 threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/function_ref.h"

namespace warpline {

class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // the calling thread counts as one; throws ValueError below 1
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;

  // Calls body(piece, worker) once for each piece in [0, pieces), worker in [0, size()), and returns when all
  // are done. The first exception is rethrown here. Not reentrant; one caller at a time.
  void run(std::int64_t pieces, FunctionRef<void(std::int64_t piece, int worker)> body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Scratch memory of kernels: one growing, 64-byte aligned buffer for each worker and slot. It only ever
// grows, so a training step in steady state asks the system for nothing.
class Scratch {
 public:
  explicit Scratch(int workers);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  static constexpr int kSlots = 4;
  // At least `bytes` bytes, contents undefined, valid until the next get() of this worker and slot. Safe to
  // call from different workers at once. What lies behind them is poisoned in sanitizer builds.
  void* get(int worker, int slot, std::size_t bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpline
