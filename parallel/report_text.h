// Reports and trace events as text, for the way to rank 0.
#pragma once

#include <string>
#include <vector>

#include "parallel/report.h"
#include "parallel/trace.h"

namespace warpline::parallel {

std::string to_text(const RankReport& report);
RankReport report_from_text(const std::string& text);

std::string to_text(const std::vector<TraceEvent>& events);
std::vector<TraceEvent> events_from_text(const std::string& text);

}  // namespace warpline::parallel
