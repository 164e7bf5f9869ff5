// What a run leaves behind for people (a table) and for machines (JSON).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "parallel/report.h"

namespace warpline::tools {

nlohmann::ordered_json to_json(const std::vector<parallel::RankReport>& ranks);
nlohmann::ordered_json versions();  // of the program and its libraries
std::int64_t peak_rss_bytes();      // of this process so far

// One line a rank: layers, parameters, bytes, time. steps: of training, or batches.
std::string rank_table(const std::vector<parallel::RankReport>& ranks, std::int64_t steps);
// "1.62 of 2 ranks at work on average; ...": all ranks' computing over the time it took. On fewer cores than
// ranks the computing itself takes longer, so this is no speed-up.
std::string busy_line(const std::vector<parallel::RankReport>& ranks, double seconds);

void write_json(const std::string& path, const nlohmann::ordered_json& json);  // whole or not at all

}  // namespace warpline::tools
