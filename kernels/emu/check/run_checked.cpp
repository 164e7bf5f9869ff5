#include "kernels/emu/check/run_checked.h"

#include "kernels/emu/check/checker.h"
#include "kernels/emu/check/report.h"
#include "kernels/emu/profile/profiler.h"

namespace warpline::emu::check {

namespace {

// While it lives, the launch is watched: by the checker, or by the profiler before it.
class Watched {
 public:
  Watched(Checker& checker, Launch& launch, const KernelCall& call, int device, const kernels::CallNote& note)
      : checker_(checker), counted_(profiler_.records) {
    checker.begin_kernel(launch, call.parameters.get(), call.parameter_bytes);
    if (counted_) profiler_.begin_kernel(launch, device, note, checker);
    launch.watcher = counted_ ? static_cast<Watcher*>(&profiler_) : &checker;
    running_checker = counted_ ? nullptr : &checker;
  }
  ~Watched() {
    running_checker = nullptr;
    if (counted_) profiler_.end_kernel();
    checker_.end_kernel();
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  Checker& checker_;
  profile::Profiler& profiler_ = profile::Profiler::instance();
  const bool counted_;
};

}  // namespace

void run_checked(Launch& launch, const KernelCall& call, int device, const Moment& moment,
                 const kernels::CallNote& note) {
  Block& block = Block::of_this_thread();
  Checker& checker = Checker::instance();
  const std::lock_guard lock(checker.mutex());
  checker.begin_work(launch.kernel, device, moment);
  try {
    const Watched watched(checker, launch, call, device, note);
    for (std::uint64_t i = 0; i < launch.grid.count(); ++i) block.run(launch, block_in_order(launch, i));
  } catch (const KernelError& error) {
    if (!checker.stopped()) add(report_of(error));
    throw;
  }
  checker.end_work(moment);
}

}  // namespace warpline::emu::check
