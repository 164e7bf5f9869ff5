#include "kernels/emu/cuda_runtime/patience.h"

#include <chrono>
#include <csignal>
#include <map>
#include <thread>

#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>

#include "kernels/emu/block.h"
#include "kernels/emu/check/program.h"
#include "kernels/emu/cuda_runtime/environment.h"
#include "kernels/emu/cuda_runtime/state.h"
#include "kernels/emu/cuda_runtime/stop.h"
#include "kernels/emu/index.h"

namespace warpline::cuda {

namespace {

constexpr int kSignal = SIGURG;  // which a program ignores unless it asks for it

std::uint64_t patience() {
  static const std::uint64_t seconds = number_from("WARPLINE_EMU_PATIENCE", 30, 1, 1000000);
  return seconds;
}

const void* interrupted_at(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(machine.pc);
#else
  static_cast<void>(machine);
  return nullptr;
#endif
}

// On the OS thread, and the stack, of the thread that does not end. It is dropped there, as any other thread
// of a block that failed: this handler does not return.
void give_up(int, siginfo_t*, void* context) {
  if (!emu::Block::runs()) return;
  const auto* const place = static_cast<const char*>(interrupted_at(context));
  const std::string line =
      place != nullptr
          ? fmt::format(" (last at {})", emu::check::source_line(emu::check::code_offset(place + 1)))
          : "";
  stop_kernel(cudaErrorLaunchTimeout, "patience",
              fmt::format("thread ({}, {}, {}) of block ({}, {}, {}) has run for {} s without meeting a "
                          "barrier{}; one that waits in a loop keeps the others of its block from running; "
                          "WARPLINE_EMU_PATIENCE=N gives it N s",
                          emu::threadIdx.x, emu::threadIdx.y, emu::threadIdx.z, emu::blockIdx.x,
                          emu::blockIdx.y, emu::blockIdx.z, patience(), line));
}

[[noreturn]] void look() {
  struct Seen {
    std::uint64_t turns = 0, seconds = 0;
  };
  std::map<pthread_t, Seen> seen;
  while (true) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    std::map<pthread_t, Seen> now;
    emu::Block::visit_running([&](pthread_t os_thread, std::uint64_t turns) {
      const Seen before = seen[os_thread];
      const std::uint64_t seconds = before.turns == turns ? before.seconds + 1 : 0;
      now[os_thread] = {turns, seconds};
      if (seconds == patience()) pthread_kill(os_thread, kSignal);
      if (seconds < 2 * patience() + 5) return;
      // It was interrupted where that cannot end well, such as in malloc.
      fmt::print(stderr, "========= patience: the kernel does not stop; the program ends\n");
      _exit(1);
    });
    seen = std::move(now);
  }
}

}  // namespace

void look_after_kernels() {
  static const bool looking = [] {
    patience();
    struct sigaction action {};
    action.sa_sigaction = give_up;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;  // never returned from, and yet wanted again
    sigaction(kSignal, &action, nullptr);
    std::thread(look).detach();
    return true;
  }();
  static_cast<void>(looking);
}

}  // namespace warpline::cuda
