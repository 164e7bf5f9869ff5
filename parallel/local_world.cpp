#include "parallel/local_world.h"

namespace warpline::parallel::local {

Domain::Domain(Members domain_members)
    : members(std::move(domain_members)),
      peers(members.world_ranks.size()),
      channels(members.world_ranks.size() * members.world_ranks.size()) {}

Channel& Domain::channel(int from, int to) {
  return channels[static_cast<std::size_t>(from) * peers.size() + static_cast<std::size_t>(to)];
}

World::World(const LocalOptions& local_options, int ranks) : options(local_options) {
  domains.push_back(std::make_shared<Domain>(world_members(ranks)));
}

std::shared_ptr<Domain> World::child(Domain& parent, std::int64_t collective, const std::vector<int>& ranks,
                                     const std::string& name) {
  std::shared_ptr<Domain>& domain = parent.children[{collective, ranks.front()}];
  if (!domain) {
    domain = std::make_shared<Domain>(parent.members.subset(ranks, name));
    domains.push_back(domain);
  }
  return domain;
}

void World::fail(FirstError error) {
  if (first) return;
  first = std::move(error);
  for (const auto& domain : domains) {
    for (Peer& peer : domain->peers) peer.wake.notify_all();
  }
}

void World::throw_if_failed(int world_rank) const {
  if (first) first->rethrow_on(world_rank);
}

std::vector<CommunicatorState> World::states() const {
  std::vector<CommunicatorState> states;
  for (const auto& domain : domains) {
    CommunicatorState& state = states.emplace_back(CommunicatorState{domain->members, {}});
    for (const Peer& peer : domain->peers) state.ranks.push_back(peer.state);
  }
  return states;
}

}  // namespace warpline::parallel::local
