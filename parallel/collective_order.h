// Compares the collectives of one communicator's ranks as they begin them, whether or not the ranks' messages
// ever meet: each must be the same call on every rank. Whoever holds it (all threads of a run, or a server of
// processes) guards it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "parallel/members.h"

namespace warpline::parallel {

class CollectiveOrder {
 public:
  // A rank begins its collective number `collective` (from 0). What it disagrees about with the first rank
  // that began it; nullopt: nothing.
  std::optional<Disagreement> begin(const Members& members, int rank, const Signature& call,
                                    std::int64_t collective);

 private:
  struct Begun {
    Caller first;
    int ranks = 0;
  };
  std::map<std::int64_t, Begun> begun_;  // by some ranks and not by all
};

}  // namespace warpline::parallel
