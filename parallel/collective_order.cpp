#include "parallel/collective_order.h"

namespace warpline::parallel {

std::optional<Disagreement> CollectiveOrder::begin(const Members& members, int rank, const Signature& call,
                                                   std::int64_t collective) {
  const Caller caller{rank, {call, collective}};
  const auto at = begun_.try_emplace(collective, Begun{caller}).first;
  if (auto found = disagreement(members, caller, at->second.first)) return found;
  if (++at->second.ranks == members.size()) begun_.erase(at);
  return std::nullopt;
}

}  // namespace warpline::parallel
