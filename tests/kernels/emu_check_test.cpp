// The checks of the emulator: each planted fault is named by its check with its place, the same kernel done
// right gives no report, and no barrier of the production kernels can be taken out unseen.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "kernels/emu/check/checker.h"
#include "kernels/emu/check/report.h"
#include "kernels/runtime.h"
#include "tests/planted/faults.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/run_program.h"

using namespace warpline;
using namespace warpline::test;
using emu::check::Report;

namespace {

constexpr std::uint64_t kSeeds = 20;
constexpr std::size_t kBytes = kPlantedFloats * sizeof(float);

Runtime& checked() { return runtime(DeviceKind::EmuChecked); }

class CheckedStream {
 public:
  explicit CheckedStream(int device = 0)
      : stream_{{DeviceKind::EmuChecked, device}, &pool_, nullptr, checked().open_stream(device, &pool_)} {}
  ~CheckedStream() { checked().close_stream(stream_.native); }
  CheckedStream(const CheckedStream&) = delete;
  CheckedStream& operator=(const CheckedStream&) = delete;
  const Stream& get() const { return stream_; }

  // What went wrong, or nothing.
  std::string wait() const {
    try {
      checked().synchronize(stream_);
    } catch (const emu::KernelError& error) {
      return error.what();
    }
    return "";
  }

 private:
  ThreadPool pool_{1};
  Stream stream_;
};

// Device memory of kPlantedFloats floats.
class DeviceArray {
 public:
  explicit DeviceArray(const CheckedStream& stream)
      : stream_(stream.get()), data_(static_cast<float*>(checked().allocate(stream_.device.index, kBytes))) {
    checked().claim(data_, kBytes, stream_);
  }
  ~DeviceArray() {
    if (owned_) give_up();
    checked().synchronize(stream_);
    checked().release(stream_.device.index, data_, kBytes);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  float* data() const { return data_; }
  void fill() const {
    std::vector<float> values(kPlantedFloats);
    for (int i = 0; i < kPlantedFloats; ++i)
      values[static_cast<std::size_t>(i)] = static_cast<float>(i % 7 - 3);
    checked().host_to_device(data_, values.data(), kBytes, stream_);
  }
  void give_up() {
    checked().disclaim(data_, kBytes, stream_);
    owned_ = false;
  }

 private:
  const Stream& stream_;
  float* data_;
  bool owned_ = true;
};

std::vector<Report> reports_of(const PlantedFault& planted, bool fault) {
  emu::check::Capture capture;
  const CheckedStream stream;
  const DeviceArray in(stream), out(stream);
  in.fill();
  planted.run(fault, in.data(), out.data(), stream.get());
  const std::string error = stream.wait();
  std::vector<Report> reports = capture.take();
  CHECK(error.empty() == reports.empty());
  return reports;
}

}  // namespace

TEST_CASE("each planted fault is named by its check, with its line, in every order", "[emu][check]") {
  std::size_t caught = 0;
  for (const PlantedFault& planted : planted_faults()) {
    INFO(planted.name);
    bool always = true;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      INFO("order seed " << seed);
      const OrderSeed order(seed);
      const std::vector<Report> reports = reports_of(planted, true);
      const bool named = std::any_of(reports.begin(), reports.end(), [&](const Report& report) {
        return report.check == planted.check && report.text.find("faults.cu:") != std::string::npos;
      });
      for (const Report& report : reports) UNSCOPED_INFO(report.text);
      CHECK(named);
      always = always && named;
    }
    caught += always ? 1 : 0;
  }
  fmt::print("[check] {} of {} planted faults caught in each of {} orders\n", caught, planted_faults().size(),
             kSeeds);
}

TEST_CASE("the same kernels done right give no report, in any order", "[emu][check]") {
  for (const PlantedFault& planted : planted_faults()) {
    INFO(planted.name);
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const OrderSeed order(seed);
      for (const Report& report : reports_of(planted, false))
        FAIL_CHECK("order seed " << seed << "\n" << report.text);
    }
  }
}

TEST_CASE("stamps that begin again hide no fault and make none", "[emu][check]") {
  emu::check::Checker& checker = emu::check::Checker::instance();
  // A word that was not cleared would hold stamps from any part of a launch.
  for (const emu::check::Checker::Stamp most : {1U, 37U, 301U}) {
    checker.begin_stamps_again_after(most);
    for (const PlantedFault& planted : planted_faults()) {
      INFO(planted.name << ", again after " << most);
      const OrderSeed order(3);
      const std::vector<Report> reports = reports_of(planted, true);
      CHECK(std::any_of(reports.begin(), reports.end(),
                        [&](const Report& report) { return report.check == planted.check; }));
      CHECK(reports_of(planted, false).empty());
    }
  }
  checker.begin_stamps_again_after(1U << 30);
}

TEST_CASE("a race tells both lines, the array and the seed that repeats it", "[emu][check]") {
  const OrderSeed order(7);
  const std::vector<Report> reports = reports_of(planted_faults().front(), true);
  const auto race = std::find_if(reports.begin(), reports.end(),
                                 [](const Report& report) { return report.check == "racecheck"; });
  REQUIRE(race != reports.end());
  const std::string& text = race->text;
  CHECK_THAT(text, Catch::Contains("on shared memory tile, byte ") && Catch::Contains("order seed 7") &&
                       Catch::Contains("in kernel reverse_tiles<false, true>"));
  const std::size_t first = text.find("faults.cu:");
  CHECK(text.find("faults.cu:", first + 1) != std::string::npos);
}

// Run by the next test, as a program of its own.
TEST_CASE("a program that goes on after a report", "[.report]") {
  const CheckedStream stream;
  const DeviceArray in(stream), out(stream);
  in.fill();
  planted_faults().front().run(true, in.data(), out.data(), stream.get());
  CHECK(!stream.wait().empty());
}

TEST_CASE("a report makes the exit status non-zero, whatever the program returns", "[emu][check]") {
  const ProgramResult result =
      run_program(fmt::format("'{}/tests/kernels_emu_check_test' '[.report]'", WARPLINE_BUILD_ROOT));
  CHECK(result.status == 1);
  CHECK_THAT(result.out, Catch::Contains("1 passed, 0 failed"));
  CHECK_THAT(result.errors, Catch::Contains("========= racecheck") && Catch::Contains("reports"));
}

TEST_CASE("a stream that does not wait for another's work is a race", "[emu][check]") {
  for (const bool waits : {true, false}) {
    emu::check::Capture capture;
    const CheckedStream first, second;
    const DeviceArray in(first), middle(first), out(second);
    in.fill();
    const PlantedFault& copy = *std::find_if(planted_faults().begin(), planted_faults().end(),
                                             [](const auto& f) { return f.name == "memory of the host"; });
    first.wait();
    second.wait();
    copy.run(false, in.data(), middle.data(), first.get());
    if (waits) checked().wait(second.get(), first.get());
    const OrderSeed order(1);  // the first stream runs ahead: the values are there, the order is not
    copy.run(false, middle.data(), out.data(), second.get());
    CHECK(second.wait().empty() == waits);
    const std::vector<Report> reports = capture.take();
    CHECK(reports.empty() == waits);
    if (!waits && !reports.empty()) {
      CHECK(reports.front().check == "racecheck");
      CHECK_THAT(reports.front().text, Catch::Contains("has not waited for"));
    }
    first.wait();
  }
}

TEST_CASE("memory that is freed too early, and memory of another device", "[emu][check]") {
  const PlantedFault& copy = *std::find_if(planted_faults().begin(), planted_faults().end(),
                                           [](const auto& f) { return f.name == "memory of the host"; });
  emu::check::Capture capture;
  const CheckedStream stream, other(1);
  DeviceArray in(stream);
  const DeviceArray out(stream), elsewhere(other);
  in.fill();
  elsewhere.fill();
  other.wait();
  copy.run(false, elsewhere.data(), out.data(), stream.get());
  CHECK_THAT(stream.wait(), Catch::Contains("memory of emu:1, in a kernel on emu:0"));
  in.give_up();
  copy.run(false, in.data(), out.data(), stream.get());
  CHECK_THAT(stream.wait(), Catch::Contains("was freed"));
  const std::vector<Report> reports = capture.take();
  REQUIRE(reports.size() == 2);
  for (const Report& report : reports) CHECK(report.check == "memcheck");
}
