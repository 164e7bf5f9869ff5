#include "kernels/emu/profile/environment.h"

#include <cstdlib>

#include <fmt/core.h>

#include "kernels/emu/check/report.h"
#include "kernels/emu/environment.h"
#include "kernels/emu/profile/profile.h"
#include "kernels/emu/profile/table.h"

namespace warpline::emu::profile {

namespace {

// Never destroyed: what it records with is gone before static objects are.
Recording* recording = nullptr;

void print_recording() {
  const std::vector<KernelProfile> profiles = recording->take();
  if (profiles.empty()) return;
  fmt::print(stderr, "{}", kernel_table(profiles));
  for (const KernelProfile& profile : profiles) fmt::print(stderr, "\n{}", line_table(profile));
}

}  // namespace

bool wanted_by_environment() { return is_switched_on("WARPLINE_PROFILE"); }

void record_until_exit() {
  recording = new Recording;
  check::fail_at_exit();  // before: it ends the program, and comes after what is registered later
  std::atexit(print_recording);
}

}  // namespace warpline::emu::profile
