#include "parallel/members.h"

#include <numeric>

#include <fmt/core.h>

namespace warpline::parallel {

std::string Members::who(int rank) const {
  if (is_world) return fmt::format("rank {}", rank);
  return fmt::format("rank {} of {} (rank {} of the run)", rank, name, world_rank(rank));
}

Members Members::subset(const std::vector<int>& ranks, std::string subset_name) const {
  Members result{std::move(subset_name), {}, false};
  for (const int rank : ranks) result.world_ranks.push_back(world_rank(rank));
  return result;
}

Members world_members(int size) {
  Members result{"world", std::vector<int>(static_cast<std::size_t>(size)), true};
  std::iota(result.world_ranks.begin(), result.world_ranks.end(), 0);
  return result;
}

std::optional<Disagreement> disagreement(const Members& members, const Caller& one, const Caller& other) {
  const Caller& low = one.rank < other.rank ? one : other;
  const Caller& high = one.rank < other.rank ? other : one;
  const std::string what = difference(low.envelope, high.envelope);
  if (what.empty()) return std::nullopt;
  return Disagreement{
      fmt::format("[communicator] {} called {}, {} called {}: {}; ranks must make calls that fit, in the "
                  "same order",
                  members.who(low.rank), to_string(low.envelope.call), members.who(high.rank),
                  to_string(high.envelope.call), what),
      {members.world_rank(low.rank), members.world_rank(high.rank)}};
}

}  // namespace warpline::parallel
