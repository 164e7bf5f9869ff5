#include "kernels/emu/profile/profile.h"

#include "kernels/emu/check/checker.h"
#include "kernels/emu/profile/profiler.h"

namespace warpline::emu::profile {

Traffic& Traffic::operator+=(const Traffic& other) {
  requests += other.requests;
  parts += other.parts;
  bytes += other.bytes;
  return *this;
}

Traffic Counts::global() const {
  Traffic sum;
  for (const Traffic& one : traffic[static_cast<std::size_t>(Space::Global)]) sum += one;
  return sum;
}

Counts& Counts::operator+=(const Counts& other) {
  for (std::size_t space = 0; space < traffic.size(); ++space) {
    for (std::size_t d = 0; d < traffic[space].size(); ++d) traffic[space][d] += other.traffic[space][d];
  }
  barriers += other.barriers;
  divergent += other.divergent;
  return *this;
}

Recording::Recording() {
  const std::lock_guard lock(check::Checker::instance().mutex());
  Profiler::instance().records = true;
  kernels::want_notes(true);
}

Recording::~Recording() {
  const std::lock_guard lock(check::Checker::instance().mutex());
  kernels::want_notes(false);
  Profiler::instance().records = false;
}

std::vector<KernelProfile> Recording::take() {
  const std::lock_guard lock(check::Checker::instance().mutex());
  return Profiler::instance().take();
}

}  // namespace warpline::emu::profile
