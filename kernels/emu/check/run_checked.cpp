#include "kernels/emu/check/run_checked.h"

#include <memory>

#include <fmt/core.h>

#include "kernels/emu/check/checker.h"
#include "kernels/emu/check/report.h"
#include "kernels/emu/profile/profiler.h"

namespace warpline::emu::check {

void run_checked(Launch& launch, const KernelCall& call, int device, const Moment& moment,
                 const kernels::CallNote& note) {
  Block& block = Block::of_this_thread();
  Checker& checker = Checker::instance();
  const std::lock_guard lock(checker.mutex());
  checker.begin_work(launch.kernel, device, moment);
  launch.watcher = &checker;
  checker.begin_kernel(launch, call.parameters.get(), call.parameter_bytes);
  profile::Profiler& profiler = profile::Profiler::instance();
  const bool counted = profiler.records;
  if (counted) {
    profiler.begin_kernel(launch, device, note, checker);
    launch.watcher = &profiler;
  } else {
    running_checker = &checker;
  }
  const std::unique_ptr<Checker*, void (*)(Checker**)> reset(&running_checker,
                                                             [](Checker** running) { *running = nullptr; });
  try {
    for (std::uint64_t i = 0; i < launch.grid.count(); ++i) block.run(launch, block_in_order(launch, i));
  } catch (const KernelError& error) {
    if (counted) profiler.end_kernel();
    checker.end_kernel();
    // What the block found by itself: divergence, shuffles, no progress.
    if (!checker.stopped()) add({"synccheck", fmt::format("========= synccheck: {}\n", error.what())});
    throw;
  }
  if (counted) profiler.end_kernel();
  checker.end_kernel();
  checker.end_work(moment);
}

}  // namespace warpline::emu::check
