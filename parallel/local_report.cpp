// The report of a wait that ran past its deadline. Ranks share one table, so it says who has not arrived, and
// no two ranks blame each other:
//
//   rank 0 waits for rank 1 to send in #4 recv 5 x float32 from rank 1 (last completed: #3 barrier)
//   rank 1 makes no call (last completed: #3 barrier)
//   lagging: rank 1
//   waiting: 0; making no call: 1; ended: none
#include <map>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "parallel/local_world.h"

namespace warpline::parallel::local {
namespace {

std::string last_of(const Member& member) {
  return fmt::format("last completed: {}", member.last ? to_string(*member.last) : "nothing");
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

std::string report(const World& world) {
  std::string text;
  std::map<int, std::set<int>> waits;  // ranks of the run
  std::set<int> idle, busy, ended;
  for (const auto& domain : world.domains) {
    for (int r = 0; r < domain->size(); ++r) {
      const Member& member = domain->members[static_cast<std::size_t>(r)];
      std::set<std::string> lines;  // parts of one collective may wait for the same peer
      for (const Message& message : member.waits_for) {
        waits[member.world_rank].insert(domain->members[static_cast<std::size_t>(message.peer)].world_rank);
        lines.insert(fmt::format("  {} waits for {} to {} in {} ({})\n", domain->who(r),
                                 domain->who(message.peer), message.sends ? "receive" : "send",
                                 to_string(message.call), last_of(member)));
      }
      for (const std::string& line : lines) text += line;
      if (!member.current.empty() && member.waits_for.empty()) {
        busy.insert(member.world_rank);
        text += fmt::format("  {} works on {} ({})\n", domain->who(r), to_string(member.current.front()),
                            last_of(member));
      }
    }
  }
  const Domain& all = *world.domains.front();
  std::set<int> waiting, lagging;
  for (const auto& [rank, peers] : waits) waiting.insert(rank);
  for (const Member& member : all.members) {
    const int rank = member.world_rank;
    if (waits.count(rank) != 0 || busy.count(rank) != 0) continue;
    (member.left ? ended : idle).insert(rank);
    text += fmt::format("  rank {} {} ({})\n", rank,
                        member.cancelled ? "is leaving with an error of its own"
                        : member.left    ? "has ended"
                                         : "makes no call",
                        last_of(member));
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

}  // namespace warpline::parallel::local
