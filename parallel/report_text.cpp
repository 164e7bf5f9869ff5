#include "parallel/report_text.h"

#include <nlohmann/json.hpp>

namespace warpline::parallel {

// These macros define to_json and from_json, which nlohmann finds by their names.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankReport, rank, replica, stage, device, layers, parameter_count,
                                   bytes_sent, bytes_received, messages_sent, compute_seconds, wait_seconds,
                                   peak_activation_bytes, actions)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TraceEvent, rank, stream, name, start_us, end_us)

std::string to_text(const RankReport& report) { return nlohmann::json(report).dump(); }
RankReport report_from_text(const std::string& text) { return nlohmann::json::parse(text).get<RankReport>(); }

std::string to_text(const std::vector<TraceEvent>& events) { return nlohmann::json(events).dump(); }
std::vector<TraceEvent> events_from_text(const std::string& text) {
  return nlohmann::json::parse(text).get<std::vector<TraceEvent>>();
}

}  // namespace warpline::parallel
