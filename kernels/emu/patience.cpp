#include "kernels/emu/patience.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>
#include <thread>

#include <fmt/core.h>
#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>

#include "kernels/emu/block.h"
#include "kernels/emu/check/program.h"
#include "kernels/emu/environment.h"

namespace warpline::emu {

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
  if (!Block::runs() || !Block::current().is_doubted()) return;
  const auto* const place = static_cast<const char*>(interrupted_at(context));
  const std::string line =
      place != nullptr ? fmt::format(" (last at {})", check::source_line(check::code_offset(place + 1))) : "";
  Block::current().give_up(fmt::format(
      "has run for {} s without meeting a barrier{}; one that waits in a loop keeps the others of "
      "its block from running; WARPLINE_EMU_PATIENCE=N gives it N s",
      patience(), line));
}

[[noreturn]] void look() {
  struct Seen {
    Block::Progress at;
    std::uint64_t seconds_of_turn = 0, seconds_of_block = 0;
  };
  std::map<const Block*, Seen> seen;
  while (true) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    std::map<const Block*, Seen> now;
    Block::visit_running([&](Block& block) {
      const Seen before = seen[&block];
      Seen& one = now[&block];
      one.at = block.progress();
      if (one.at.turns == before.at.turns) one.seconds_of_turn = before.seconds_of_turn + 1;
      if (one.at.blocks == before.at.blocks) one.seconds_of_block = before.seconds_of_block + 1;
      if (one.seconds_of_turn == patience()) {
        block.doubt(one.at.turns);
        pthread_kill(block.os_thread(), kSignal);
      }
      if (one.seconds_of_block == 10 * patience()) block.end_at_barrier(one.at.blocks, one.seconds_of_block);
      if (one.seconds_of_turn < 2 * patience() + 5) return;
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

}  // namespace warpline::emu
