// Back end `local`: ranks are threads of one process. Messages are copied between the ranks' tensors; the
// three send modes differ in when a send counts as done, which is where programs that hang on NCCL differ
// from those that do not.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "parallel/collectives/algorithm.h"
#include "parallel/communicator.h"

namespace warpline::parallel {

enum class SendMode : std::uint8_t {
  Rendezvous,  // done when the receiver has taken it
  Bounded,     // done when one of `buffers` slots a peer is free
  Buffered,    // done at once
};

constexpr double kMostSeconds = 1e6;  // of a timeout or a delay; eleven days

struct LocalOptions {
  SendMode send_mode = SendMode::Bounded;
  int buffers = 2;
  std::uint64_t order_seed = 0;   // which of several ready calls of a group, or rank, goes first; 0: as made
  double timeout_seconds = 60.0;  // of every wait
  // Added to every message on its way: to show what overlaps. Messages of one ordered pair of ranks travel
  // one after another, so k of them take k delays.
  double message_delay_seconds = 0;
  AllReduceAlgorithm all_reduce = AllReduceAlgorithm::Automatic;
};

// Runs body(rank, world communicator) on `contexts.size()` threads, one for each context, and joins them all.
// When one throws, the others stop at their next call or wait; the first error is rethrown here, prefixed by
// its rank, as the type it had (a type that is not of kernels/error.h or parallel/communicator.h as Failure).
// One rank runs on the calling thread, and its error has no prefix. A rank that returns ends its part: those
// that still wait for it fail at once (PeerError). ValueError for options out of range.
void run_local(const std::vector<std::shared_ptr<Context>>& contexts, const LocalOptions& options,
               const std::function<void(int rank, std::shared_ptr<Communicator> world)>& body);

}  // namespace warpline::parallel
