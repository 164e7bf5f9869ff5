// When each rank did what. The file opens in Perfetto (ui.perfetto.dev) or chrome://tracing: one process a
// rank, one row a stream.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpline::parallel {

struct TraceEvent {
  int rank = 0;
  std::string stream;  // "compute", "communication"
  std::string name;    // a token, "2F0"
  // Microseconds of the system's clock, which ranks on one host share.
  std::int64_t start_us = 0, end_us = 0;
  bool operator==(const TraceEvent&) const = default;
};

std::int64_t now_us();  // on that clock

// Written whole or not at all; FileError names the path.
void write_trace(const std::string& path, const std::vector<TraceEvent>& events);

}  // namespace warpline::parallel
