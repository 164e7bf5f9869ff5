#include "parallel/trace.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include <nlohmann/json.hpp>

#include "engine/file.h"

namespace warpline::parallel {
namespace {

// Rows of a rank, in this order.
int row_of(const std::string& stream) { return stream == "compute" ? 0 : 1; }

nlohmann::json name_row(const char* kind, int rank, int row, const std::string& name) {
  return {{"ph", "M"}, {"name", kind}, {"pid", rank}, {"tid", row}, {"args", {{"name", name}}}};
}

}  // namespace

std::int64_t now_us() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

void write_trace(const std::string& path, const std::vector<TraceEvent>& events) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  int ranks = 0;
  for (const TraceEvent& event : events) {
    first = std::min(first, event.start_us);
    ranks = std::max(ranks, event.rank + 1);
  }
  nlohmann::json rows = nlohmann::json::array();
  for (int rank = 0; rank < ranks; ++rank) {
    rows.push_back(name_row("process_name", rank, 0, "rank " + std::to_string(rank)));
    for (const char* stream : {"compute", "communication"}) {
      rows.push_back(name_row("thread_name", rank, row_of(stream), stream));
    }
  }
  for (const TraceEvent& event : events) {
    rows.push_back({{"ph", "X"},
                    {"name", event.name},
                    {"cat", event.stream},
                    {"pid", event.rank},
                    {"tid", row_of(event.stream)},
                    {"ts", event.start_us - first},
                    {"dur", event.end_us - event.start_us}});
  }
  write_file_whole(path, nlohmann::json{{"traceEvents", rows}, {"displayTimeUnit", "ms"}}.dump());
}

}  // namespace warpline::parallel
