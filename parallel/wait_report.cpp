#include "parallel/wait_report.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace warpline::parallel {
namespace {

std::string last_completed(const std::optional<Signature>& last) {
  return fmt::format("last completed: {}", last ? to_string(*last) : "nothing");
}

std::string list(const std::set<int>& ranks) {
  return ranks.empty() ? "none" : fmt::format("{}", fmt::join(ranks, ", "));
}

// Follows the first edge of each rank until one comes back.
std::string cycle(const std::map<int, std::set<int>>& waits) {
  std::vector<int> path;
  std::set<int> seen;
  for (int rank = waits.begin()->first; seen.insert(rank).second; rank = *waits.at(rank).begin()) {
    path.push_back(rank);
  }
  const int back = *waits.at(path.back()).begin();
  path.erase(path.begin(), std::find(path.begin(), path.end(), back));
  path.push_back(back);
  return fmt::format("{}", fmt::join(path, " -> "));
}

}  // namespace

std::string wait_report(std::span<const CommunicatorState> communicators) {
  std::string text;
  std::map<int, std::set<int>> waits;  // ranks of the run, as everything below
  std::set<int> idle, busy, ended;
  for (const auto& [members, ranks] : communicators) {
    for (int r = 0; r < members.size(); ++r) {
      const RankState& state = ranks[static_cast<std::size_t>(r)];
      std::set<std::string> lines;  // parts of one collective may wait for the same peer
      for (const Wait& wait : state.waits) {
        waits[members.world_rank(r)].insert(members.world_rank(wait.peer));
        lines.insert(fmt::format("  {} waits for {} to {} in {} ({})\n", members.who(r),
                                 members.who(wait.peer), wait.sends ? "receive" : "send",
                                 to_string(wait.call), last_completed(state.last)));
      }
      for (const std::string& line : lines) text += line;
      if (state.current && state.waits.empty()) {
        busy.insert(members.world_rank(r));
        text += fmt::format("  {} works on {} ({})\n", members.who(r), to_string(*state.current),
                            last_completed(state.last));
      }
    }
  }
  std::set<int> waiting, lagging;
  for (const auto& [rank, peers] : waits) waiting.insert(rank);
  const std::vector<RankState>& world = communicators.front().ranks;
  for (int rank = 0; rank < static_cast<int>(world.size()); ++rank) {
    if (waits.count(rank) != 0 || busy.count(rank) != 0) continue;
    const RankState& state = world[static_cast<std::size_t>(rank)];
    (state.left ? ended : idle).insert(rank);
    text += fmt::format("  rank {} {} ({})\n", rank,
                        state.cancelled ? "is leaving with an error of its own"
                        : state.left    ? "has ended"
                                        : "makes no call",
                        last_completed(state.last));
  }
  for (const auto& [rank, peers] : waits) {
    for (const int peer : peers) {
      if (waits.count(peer) == 0) lagging.insert(peer);
    }
  }
  if (!lagging.empty()) {
    text += fmt::format("  lagging: rank {}\n", list(lagging));
  } else if (!waits.empty()) {
    text += fmt::format("  a cycle, each waits for the next: rank {}\n", cycle(waits));
  }
  text += fmt::format("  waiting: {}; making no call: {}; ended: {}", list(waiting), list(idle), list(ended));
  return text;
}

std::string waited_too_long(const Members& members, int rank, const Signature& awaited, double seconds,
                            std::span<const CommunicatorState> communicators) {
  return fmt::format("[communicator] {} waited {} s for {}\n{}", members.who(rank), seconds,
                     to_string(awaited), wait_report(communicators));
}

std::string waits_for_one_that_has_ended(const Members& members, int rank, const Signature& call, int peer,
                                         const std::optional<Signature>& last) {
  return fmt::format("[communicator] {} waits in {} for {}, which has ended ({})", members.who(rank),
                     to_string(call), members.who(peer), last_completed(last));
}

}  // namespace warpline::parallel
