#include "parallel/local_world.h"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "parallel/communicator.h"

namespace warpline::parallel::local {

Domain::Domain(std::string domain_name, const std::vector<int>& world_ranks, bool world)
    : name(std::move(domain_name)), is_world(world), channels(world_ranks.size() * world_ranks.size()) {
  for (const int rank : world_ranks) members.emplace_back().world_rank = rank;
}

Channel& Domain::channel(int from, int to) {
  return channels[static_cast<std::size_t>(from) * members.size() + static_cast<std::size_t>(to)];
}

std::string Domain::who(int rank) const {
  if (is_world) return fmt::format("rank {}", rank);
  const int world_rank = members[static_cast<std::size_t>(rank)].world_rank;
  return fmt::format("rank {} of {} (rank {} of the run)", rank, name, world_rank);
}

World::World(const LocalOptions& local_options, int ranks) : options(local_options) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  domains.push_back(std::make_shared<Domain>("world", all, true));
}

std::shared_ptr<Domain> World::child(Domain& parent, std::int64_t collective, const std::vector<int>& members,
                                     const std::string& name) {
  std::shared_ptr<Domain>& domain = parent.children[{collective, members.front()}];
  if (!domain) {
    std::vector<int> world_ranks;
    for (const int r : members) world_ranks.push_back(parent.members[static_cast<std::size_t>(r)].world_rank);
    domain = std::make_shared<Domain>(name, world_ranks, false);
    domains.push_back(domain);
  }
  return domain;
}

void World::fail(CaughtError error, int rank, std::vector<int> own) {
  if (first) return;
  first = First{std::move(error), rank, std::move(own)};
  for (const auto& domain : domains) {
    for (Member& member : domain->members) member.wake.notify_all();
  }
}

void World::throw_if_failed(int rank) const {
  if (!first) return;
  if (std::find(first->own.begin(), first->own.end(), rank) != first->own.end()) first->error.rethrow();
  warpline::fail<PeerError>("communicator", "rank {} failed first: {}", first->rank, first->error.text);
}

}  // namespace warpline::parallel::local
