// Runs one block of a kernel: its CUDA threads take turns on one OS thread. A thread runs until it meets a
// barrier or a warp primitive; a kernel that meets none runs as a plain loop. What the CUDA programming guide
// leaves undefined is an error here, which names block, threads and source lines.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <pthread.h>

#include "kernels/emu/dim3.h"
#include "kernels/emu/fiber.h"
#include "kernels/emu/order.h"
#include "kernels/emu/site.h"
#include "kernels/emu/warp_call.h"
#include "kernels/emu/watcher.h"
#include "kernels/error.h"
#include "kernels/function_ref.h"

namespace warpline::emu {

// A kernel that broke the execution model.
struct KernelError : Failure {
  using Failure::Failure;
};

// One that does not end.
struct KernelTimeout : KernelError {
  using KernelError::KernelError;
};

struct Launch {
  std::string_view kernel;  // its name
  dim3 grid, block;
  std::size_t shared_bytes = 0;    // dynamic
  std::uint64_t seed = 0;          // of the order of threads and blocks: order.h
  FunctionRef<void()> run_thread;  // the kernel's body, with its arguments
  Watcher* watcher = nullptr;      // null: nobody watches
};

std::string to_string(const Site& site);  // "file:line"

class Block {
 public:
  Block();
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Throws KernelError. The block can run another launch afterwards.
  void run(const Launch& launch, uint3 index);

  // Fibers belong to an OS thread, and are kept for its next launch.
  static Block& of_this_thread();
  // The block that runs on this OS thread. KernelError outside a kernel.
  static Block& current();
  static bool runs();  // does one, on this OS thread?

  // For another OS thread, which looks after kernels that do not end: patience.h.
  static void visit_running(FunctionRef<void(Block&)> visit);
  struct Progress {
    std::uint64_t blocks = 0, turns = 0;  // that began so far; a turn is that of a CUDA thread
  };
  Progress progress() const { return {blocks_, turns_}; }
  pthread_t os_thread() const { return os_thread_; }
  // The turn is too long, if it still lasts.
  void doubt(std::uint64_t turn) { doubted_turn_ = turn; }
  // The block, if it still runs, gives up at the next barrier or warp primitive: it took that long.
  void end_at_barrier(std::uint64_t block, std::uint64_t seconds);

  // For the running CUDA thread.
  void barrier(Site site);            // __syncthreads
  std::uint64_t meet(WarpCall call);  // warp primitives; what this lane takes away
  // Ends the block: the thread did what cannot be carried out.
  [[noreturn]] void abandon(std::string why);
  // The same, because it does not end.
  [[noreturn]] void give_up(const std::string& why);
  bool is_doubted() const { return doubted_turn_ == turns_; }

  static constexpr std::size_t kStackBytes = 64 * 1024;  // of a thread

 private:
  enum class State : std::uint8_t { New, Ready, Running, AtBarrier, InWarp, Done };
  // Small: all of a block's pass through the cache at each barrier.
  struct Thread {
    FiberContext rest = nullptr;  // where it stopped
    Site site;                    // of what it waits for
    uint3 index{};
    State state = State::New;
  };
  struct Warp {
    unsigned waiting = 0;  // lanes that stand in a warp primitive
    unsigned exist = 0, done = 0;
  };

  void prepare();
  void work(Fiber& fiber);  // what every fiber runs
  bool draw();
  bool takes_ready();
  void go_on(FiberContext& left);  // from a stack that cannot: to the next thread that can, or back to run()
  void become(std::uint32_t thread);
  void finish_thread();
  void release_barrier();
  void try_resolve(std::uint32_t warp, unsigned mask);
  std::uint64_t result_of(std::uint32_t warp, int lane, unsigned lanes);
  void prefetch_stack() const;
  void fail_block(std::string text);
  void end_if_unwanted();
  std::string stuck() const;
  std::string name_of(std::uint32_t thread) const;

  const Launch* launch_ = nullptr;
  uint3 index_{};
  FiberContext outside_ = nullptr;  // run() itself
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;  // wait for work, or never began
  std::vector<Thread> threads_;
  std::vector<WarpCall> calls_;  // of each thread, the one that it stands in
  std::vector<Warp> warps_;
  std::vector<std::uint32_t> order_;  // threads in the order of this round
  std::uint32_t next_ = 0;            // in it: begins, or goes on after a barrier
  std::vector<std::uint32_t> ready_;  // that their warp let go; takes_ready() says when they go on
  std::size_t next_ready_ = 0;
  std::uint32_t thread_ = 0;  // that runs
  std::uint32_t at_barrier_ = 0, done_ = 0;
  std::uint64_t round_ = 0;
  std::uint64_t luck_ = 1;  // draws how far warps run ahead of each other
  bool failed_ = false;
  const pthread_t os_thread_ = pthread_self();
  std::atomic<bool> running_ = false;
  std::atomic<std::uint64_t> blocks_ = 0, turns_ = 0, doubted_turn_ = 0, unwanted_block_ = 0,
                             unwanted_after_seconds_ = 0;
  bool timed_out_ = false;
  std::string error_;
  std::exception_ptr exception_;  // that left a kernel
};

}  // namespace warpline::emu
