// The ranks of one communicator, as errors name them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parallel/point_to_point.h"

namespace warpline::parallel {

struct Members {
  std::string name;              // "world", "pipeline 0"
  std::vector<int> world_ranks;  // by rank of this communicator
  bool is_world = false;

  int size() const { return static_cast<int>(world_ranks.size()); }
  int world_rank(int rank) const { return world_ranks[static_cast<std::size_t>(rank)]; }
  // "rank 1", or for another communicator than the world "rank 1 of pipeline 0 (rank 3 of the run)".
  std::string who(int rank) const;
  // A new communicator of these `ranks` of this one, in their new order.
  Members subset(const std::vector<int>& ranks, std::string subset_name) const;
};

Members world_members(int size);

// A rank of a communicator, and what it calls.
struct Caller {
  int rank = 0;
  Envelope envelope;
};

struct Disagreement {
  std::string text;              // names both ranks, the lower one first, whoever noticed
  std::vector<int> world_ranks;  // whose error it is
};

// What keeps the calls of two ranks from meeting; nullopt: nothing.
std::optional<Disagreement> disagreement(const Members& members, const Caller& one, const Caller& other);

}  // namespace warpline::parallel
