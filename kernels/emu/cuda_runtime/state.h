// The state of the CUDA runtime on the emulator: streams with the rules of the legacy default stream, blocks
// of memory, errors.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include <fmt/core.h>

#include "kernels/emu/check/report.h"
#include "kernels/emu/cuda_runtime/cuda_runtime_api.h"
#include "kernels/emu/grid.h"
#include "kernels/emu/queue.h"
#include "kernels/error.h"
#include "kernels/thread_pool.h"

struct CUstream_st {
  int device = 0;
  bool blocking = true;  // waits for the default stream, and is waited for by it
  std::shared_ptr<warpline::emu::Queue> queue;
  bool ahead_of_default = false;   // has work that the default stream has not waited for
  std::uint64_t default_seen = 0;  // pieces of the default stream that this one waits for
};

struct CUevent_st {
  bool timing = true;
  std::optional<warpline::emu::Queue::Mark> mark;  // none: never recorded
  std::shared_ptr<std::chrono::steady_clock::time_point> time;
};

namespace warpline::cuda {

// Does this program run under the checks?
bool checked();

struct Allocation {
  std::size_t bytes = 0;
  int device = 0;  // emu::kSharedWithHost: the host and every device reach it
  cudaMemoryType type = cudaMemoryTypeDevice;
};

class State {
 public:
  static State& instance();  // lives as long as the program, and is never destroyed

  int devices() const { return static_cast<int>(default_streams_.size()); }
  ThreadPool& pool() { return pool_; }
  std::mutex& pool_mutex() { return pool_mutex_; }  // one launch at a time

  // Null: no such stream.
  CUstream_st* find(cudaStream_t stream);
  CUstream_st* open(int device, bool blocking);
  void close(CUstream_st& stream);
  // Waits for all streams of a device; the first error.
  cudaError_t synchronize(int device);

  // Puts work on the stream, after what CUDA orders before it. An error of the work ends the program's luck:
  // every later call returns it.
  void put(CUstream_st& stream, emu::Queue::Work work);
  emu::Queue::Mark mark(CUstream_st& stream);

  cudaError_t broken() const { return broken_; }
  void break_with(cudaError_t error) { broken_ = error; }
  // What the next failure of a kernel is to be called.
  void name_failure(cudaError_t error) { failure_ = error; }

  // What a block of the kernel may ask for of dynamic shared memory. Null, a kernel whose launch does not
  // tell which it is: as much as any may.
  std::size_t most_shared_bytes(const void* kernel);
  void allow_shared_bytes(const void* kernel, std::size_t bytes);

  // Memory.
  void add(void* data, Allocation allocation);
  void remove(void* data);
  // The allocation that the address is in, and where in it.
  struct Place {
    Allocation allocation;
    std::size_t offset = 0;
  };
  std::optional<Place> place_of(const void* address);

  // Were there reports since the last call?
  bool take_new_reports();

 private:
  State();
  void run(const emu::Queue::Work& work, emu::Moment& moment);

  std::recursive_mutex mutex_;
  std::vector<std::unique_ptr<CUstream_st>> default_streams_;  // one a device
  std::vector<std::uint64_t> default_pieces_;                  // put on it so far
  std::set<CUstream_st*> streams_;
  std::map<std::byte*, Allocation> allocations_;
  ThreadPool pool_;
  std::mutex pool_mutex_;
  std::atomic<cudaError_t> broken_ = cudaSuccess;
  std::atomic<cudaError_t> failure_ = cudaErrorLaunchFailure;
  std::map<const void*, std::size_t> shared_bytes_;  // of kernels that were allowed more, or less
  std::size_t reports_told_ = 0;
};

int current_device();
void use_device(int device);

// Makes it what cudaGetLastError() says, if it is an error.
cudaError_t note(cudaError_t error);

// Waits until the mark is reached; what failed there.
cudaError_t reach(const emu::Queue::Mark& mark);
cudaError_t synchronize(CUstream_st& stream);

// Every function of the API is one of these: after a kernel failed it does nothing but say so.
template <class Body>
cudaError_t api(Body body) {
  try {
    State& state = State::instance();
    if (state.broken() != cudaSuccess) return note(state.broken());
    return note(body(state));
  } catch (const BadInput& error) {
    // The environment's fault: WARPLINE_EMU_DEVICES and the like.
    fmt::print(stderr, "{}\n", error.what());
    std::exit(2);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return note(cudaErrorUnknown);
  }
}

}  // namespace warpline::cuda
