// What the rank threads of back end `local` share: one World a run, one Domain a communicator. Everything
// here is guarded by World::mutex, which the caller of every function here holds; payloads are copied
// outside it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/tensor.h"
#include "parallel/collective_order.h"
#include "parallel/first_error.h"
#include "parallel/local.h"
#include "parallel/members.h"
#include "parallel/wait_report.h"

namespace warpline::parallel::local {

using Clock = std::chrono::steady_clock;

// A message on its way.
struct Parcel {
  Message message;  // the sender's; its tensor is a copy where the send mode buffers
  bool buffered = false;
  Clock::time_point arrives;
  enum class State : std::uint8_t { Posted, Taken, Received } state = State::Posted;
};

// Of one ordered pair of ranks: a serial link, so a delay is a message's time on it.
struct Channel {
  std::deque<std::shared_ptr<Parcel>> parcels;  // posted, not taken
  int buffered = 0;                             // of them and those being copied
  Clock::time_point free_from{};
};

// A rank in a communicator, as the others see it.
struct Peer {
  std::condition_variable wake;  // its communication thread
  RankState state;
};

// A communicator.
struct Domain {
  explicit Domain(Members domain_members);
  Channel& channel(int from, int to);
  Peer& peer(int rank) { return peers[static_cast<std::size_t>(rank)]; }

  const Members members;
  std::deque<Peer> peers;  // by rank
  std::vector<Channel> channels;
  CollectiveOrder order;
  // By the collective that split them off, and their first member.
  std::map<std::pair<std::int64_t, int>, std::shared_ptr<Domain>> children;
};

struct World {
  World(const LocalOptions& local_options, int ranks);

  // The communicator that `ranks` of `parent` make after that collective; the first to ask creates it.
  std::shared_ptr<Domain> child(Domain& parent, std::int64_t collective, const std::vector<int>& ranks,
                                const std::string& name);
  void fail(FirstError error);  // unless there is one
  void throw_if_failed(int world_rank) const;
  std::vector<CommunicatorState> states() const;

  const LocalOptions options;
  mutable std::mutex mutex;
  std::optional<FirstError> first;
  std::vector<std::shared_ptr<Domain>> domains;  // all of the run; the first one is the world's
};

}  // namespace warpline::parallel::local
