// The main of every test binary: Catch2's own, with a closing line that says what was proved, skips that name
// their reason (Catch2 2.13 has none), and --device and --seed for the binaries that offer them. With
// --device a case that has nothing for that kind of device counts as skipped.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "kernels/cuda/support.h"
#include "kernels/poison.h"
#include "tests/support/options.h"
#include "tests/support/skip.h"

namespace warpline::test {
namespace {

struct State {
  bool offers_device = false, offers_seed = false;
  Options options;
  std::string skip_reason;  // of the running test case; empty: not skipped
  std::size_t skipped = 0;
};

State& state() {
  static State instance;
  return instance;
}

// " on ref and cpu, seed 1", as far as the binary has such options.
std::string what_ran() {
  std::string text;
  if (state().offers_device) {
    for (const DeviceKind kind : device_kinds()) {
      text += fmt::format("{}{}", text.empty() ? " on " : " and ", to_string(kind));
    }
  }
  if (state().offers_seed) text += fmt::format("{}seed {}", text.empty() ? " with " : ", ", options().seed);
  return text;
}

// Counts skips, names them, and prints the closing line that tools/test adds up.
struct ClosingLine final : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo&) override { state().skip_reason.clear(); }

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (options().device && stats.totals.assertions.total() == 0) {
      state().skip_reason = fmt::format("nothing in it is for {}", to_string(*options().device));
    }
    if (state().skip_reason.empty() || stats.totals.testCases.failed != 0) return;
    ++state().skipped;
    fmt::print("skipped: {}: {}\n", stats.testInfo.name, state().skip_reason);
  }

  void testRunEnded(const Catch::TestRunStats& stats) override {
    const Catch::Counts& cases = stats.totals.testCases;
    const std::size_t failed = cases.failed + cases.failedButOk;
    summary_ = fmt::format("{}{}: {} checks; test cases: {} passed, {} failed, {} skipped",
                           stats.runInfo.name, what_ran(), stats.totals.assertions.total(),
                           cases.total() - failed - state().skipped, failed, state().skipped);
  }

  static inline std::string summary_;
};
CATCH_REGISTER_LISTENER(ClosingLine)

}  // namespace

const Options& options() { return state().options; }

Offers::Offers(bool device, bool seed) {
  state().offers_device |= device;
  state().offers_seed |= seed;
}

void skip(const std::string& reason) { state().skip_reason = reason; }

std::vector<DeviceKind> device_kinds() {
  if (options().device) return {*options().device};
  std::vector<DeviceKind> kinds{DeviceKind::Ref, DeviceKind::Cpu, DeviceKind::Emu};
  if (!poisons()) kinds.push_back(DeviceKind::EmuChecked);
  if (!cuda::support().gpus.empty()) kinds.push_back(DeviceKind::Cuda);
  return kinds;
}

}  // namespace warpline::test

int main(int argc, char** argv) {
  namespace test = warpline::test;
  Catch::Session session;
  std::string device;
  auto cli = session.cli();
  if (test::state().offers_device) {
    cli |= Catch::clara::Opt(device, "ref|cpu|cuda|emu|emu_checked")["--device"]("only this kind of device");
  }
  if (test::state().offers_seed) {
    cli |=
        Catch::clara::Opt(test::state().options.seed, "number")["--seed"]("of the random inputs (default 1)");
  }
  session.cli(cli);
  if (const int status = session.applyCommandLine(argc, argv); status != 0) return 2;
  try {
    if (!device.empty()) test::state().options.device = warpline::parse_device_kind(device);
    if (test::options().device == warpline::DeviceKind::Cuda) warpline::cuda::require_device(0);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  // A case that checks nothing fails, unless it may be one for another device.
  if (device.empty()) session.configData().warnings = Catch::WarnAbout::NoAssertions;
  const int status = session.run();
  if (!test::ClosingLine::summary_.empty()) fmt::print("{}\n", test::ClosingLine::summary_);
  return status;
}
