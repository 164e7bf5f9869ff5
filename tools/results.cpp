#include "tools/results.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "engine/file.h"
#include "tools/versions.h"

namespace warpline::tools {

nlohmann::ordered_json to_json(const std::vector<parallel::RankReport>& ranks) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const parallel::RankReport& rank : ranks) {
    list.push_back({{"rank", rank.rank},
                    {"replica", rank.replica},
                    {"stage", rank.stage},
                    {"device", rank.device},
                    {"layers", rank.layers},
                    {"parameter_count", rank.parameter_count},
                    {"bytes_sent", rank.bytes_sent},
                    {"bytes_received", rank.bytes_received},
                    {"messages_sent", rank.messages_sent},
                    {"compute_seconds", rank.compute_seconds},
                    {"wait_seconds", rank.wait_seconds},
                    {"peak_activation_bytes", rank.peak_activation_bytes},
                    {"actions", rank.actions}});
  }
  return list;
}

nlohmann::ordered_json versions() {
  nlohmann::ordered_json list = {{"warpline", WARPLINE_VERSION}, {"compiler", compiler_version()}};
  for (const LibraryVersion& library : library_versions()) list[library.name] = library.running;
  return list;
}

std::int64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;  // Linux counts in KiB
}

std::string rank_table(const std::vector<parallel::RankReport>& ranks, std::int64_t steps) {
  std::size_t width = 7;
  for (const parallel::RankReport& rank : ranks) width = std::max(width, rank.device.size());
  std::string table = fmt::format("{:>4} {:>7} {:>5} {:<{}} {:>10} {:>12} {:>9} {:>9} {:>11}  {}\n", "rank",
                                  "replica", "stage", "device", width, "parameters", "sent a step", "compute",
                                  "waiting", "activations", "layers");
  for (const parallel::RankReport& rank : ranks) {
    const std::string layers = rank.layers.empty()       ? "none"
                               : rank.layers.size() == 1 ? rank.layers.front()
                                                         : rank.layers.front() + " .. " + rank.layers.back();
    table += fmt::format(
        "{:>4} {:>7} {:>5} {:<{}} {:>10} {:>9.1f} kB {:>7.2f} s {:>7.2f} s {:>8.2f} MB  {}\n", rank.rank,
        rank.replica, rank.stage, rank.device, width, rank.parameter_count,
        static_cast<double>(rank.bytes_sent) / 1e3 / static_cast<double>(std::max<std::int64_t>(1, steps)),
        rank.compute_seconds, rank.wait_seconds, static_cast<double>(rank.peak_activation_bytes) / 1e6,
        layers);
  }
  return table;
}

std::string busy_line(const std::vector<parallel::RankReport>& ranks, double seconds) {
  double whole = 0;
  for (const parallel::RankReport& rank : ranks) whole += rank.compute_seconds;
  return fmt::format(
      "{:.2f} of {} ranks at work on average; with a core for each, this cut allows a speed-up of {:.2f}",
      seconds > 0 ? whole / seconds : 0.0, ranks.size(), parallel::speedup_bound(ranks));
}

// Paths among the flags may be any bytes.
void write_json(const std::string& path, const nlohmann::ordered_json& json) {
  write_file_whole(path, json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace warpline::tools
