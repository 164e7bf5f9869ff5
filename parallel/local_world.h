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
#include "parallel/caught_error.h"
#include "parallel/local.h"
#include "parallel/point_to_point.h"

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
struct Member {
  int world_rank = 0;
  std::condition_variable wake;  // its communication thread
  // For reports.
  std::vector<Signature> current;  // the call at the head of its FIFO; empty: none
  std::vector<Message> waits_for;  // messages that keep its exchange
  std::optional<Signature> last;   // completed
  bool left = false;               // makes no more calls
  bool cancelled = false;          // an exception unwinds its stack
};

// A communicator.
struct Domain {
  Domain(std::string domain_name, const std::vector<int>& world_ranks, bool world);
  Channel& channel(int from, int to);
  int size() const { return static_cast<int>(members.size()); }
  // "rank 1", or for another communicator than the world "rank 1 of pipeline 0 (rank 3 of the run)".
  std::string who(int rank) const;

  const std::string name;
  const bool is_world;
  std::deque<Member> members;  // by rank
  std::vector<Channel> channels;
  // Collectives that some ranks have begun and others have not.
  struct Begun {
    int rank = 0;  // the first
    Signature call;
    int ranks = 0;
  };
  std::map<std::int64_t, Begun> begun;
  // By the collective that split them off, and their first member.
  std::map<std::pair<std::int64_t, int>, std::shared_ptr<Domain>> children;
};

struct World {
  World(const LocalOptions& local_options, int ranks);

  // The communicator that `members` of `parent` make after that collective; the first to ask creates it.
  std::shared_ptr<Domain> child(Domain& parent, std::int64_t collective, const std::vector<int>& members,
                                const std::string& name);
  // The first error wins; it is their own for the ranks in `own` (of the run), a PeerError for the others.
  void fail(CaughtError error, int rank, std::vector<int> own);
  void throw_if_failed(int rank) const;

  const LocalOptions options;
  mutable std::mutex mutex;
  struct First {
    CaughtError error;
    int rank = 0;
    std::vector<int> own;
  };
  std::optional<First> first;
  std::vector<std::shared_ptr<Domain>> domains;  // all of the run; the first one is the world's
};

// Who waits for whom in which call, who lags, and the state of each rank.
std::string report(const World& world);

}  // namespace warpline::parallel::local
