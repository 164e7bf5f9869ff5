#include "kernels/emu/check/report.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

#include "kernels/emu/block.h"
#include "kernels/emu/check/checker.h"

namespace warpline::emu::check {

namespace {

constexpr int kExitStatus = 1;

std::mutex mutex;
std::size_t count = 0;
bool capturing = false;
std::vector<Report> captured;

void fail_if_reported() {
  if (reports() == 0) return;
  fmt::print(stderr, "========= {} reports\n", reports());
  std::fflush(nullptr);
  _exit(kExitStatus);
}

}  // namespace

void fail_at_exit() {
  static const int registered = std::atexit(fail_if_reported);
  static_cast<void>(registered);
}

void add(Report report) {
  const std::lock_guard lock(mutex);
  if (capturing) {
    captured.push_back(std::move(report));
    return;
  }
  fail_at_exit();
  ++count;
  fmt::print(stderr, "{}", report.text);
}

Report report_of(const std::exception& error) {
  const char* const check = dynamic_cast<const KernelTimeout*>(&error) != nullptr ? "patience" : "synccheck";
  return {check, fmt::format("========= {}: {}\n", check, error.what())};
}

std::size_t reports() {
  const std::lock_guard lock(mutex);
  return count;
}

Capture::Capture() {
  const std::lock_guard lock(mutex);
  capturing = true;
  Checker::instance().forget_reports();
  captured.clear();
}

Capture::~Capture() {
  const std::lock_guard lock(mutex);
  capturing = false;
}

std::vector<Report> Capture::take() {
  const std::lock_guard lock(mutex);
  return std::exchange(captured, {});
}

}  // namespace warpline::emu::check
