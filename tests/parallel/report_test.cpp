// Reports and traces reach rank 0 as they were, and a trace is a file that a viewer opens.
#include <fstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "kernels/error.h"
#include "parallel/report_text.h"
#include "tests/support/temporary_folder.h"

using namespace warpline;
using namespace warpline::parallel;

TEST_CASE("reports and events survive the way as text", "[report]") {
  RankReport report;
  report.rank = 3;
  report.replica = 1;
  report.stage = 1;
  report.device = "cpu:3";
  report.layers = {"fc1", "relu"};
  report.parameter_count = 400500;
  report.bytes_sent = std::int64_t{1} << 40;
  report.compute_seconds = 0.1 + 0.2;
  report.actions = {"1F0", "1<0a0#3", "S"};
  CHECK(report_from_text(to_text(report)) == report);
  const std::vector<TraceEvent> events = {{1, "compute", "1F0", 5, 9},
                                          {0, "communication", "#1 barrier", 7, 8}};
  CHECK(events_from_text(to_text(events)) == events);
}

TEST_CASE("the bound is whole over largest share, added over replicas", "[report]") {
  const auto rank = [](int replica, double seconds) {
    RankReport report;
    report.replica = replica;
    report.compute_seconds = seconds;
    return report;
  };
  CHECK(speedup_bound({rank(0, 5)}) == 1.0);
  CHECK(speedup_bound({rank(0, 3), rank(0, 1)}) == Approx(4.0 / 3));
  CHECK(speedup_bound({rank(0, 3), rank(0, 1), rank(1, 2), rank(1, 2)}) == Approx(4.0 / 3 + 2));
  CHECK(speedup_bound({rank(0, 0), rank(1, 0)}) == 2.0);
}

TEST_CASE("a trace file has a process a rank and a row a stream", "[report]") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "trace.json";
  write_trace(path, {{1, "compute", "1F0", 1005, 1009}, {0, "communication", "#1 barrier", 1000, 1002}});
  std::ifstream file(path);
  const nlohmann::json trace = nlohmann::json::parse(file);
  int spans = 0;
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    ++spans;
    if (event.at("name") != "1F0") continue;
    CHECK(event.at("pid") == 1);
    CHECK(event.at("tid") == 0);
    CHECK(event.at("ts") == 5);
    CHECK(event.at("dur") == 4);
  }
  CHECK(spans == 2);
  CHECK_THROWS_AS(write_trace("/nowhere/trace.json", {}), FileError);
}
