// What a back end provides: messages between two ranks, and the news of who fails. Everything else
// (the FIFO, groups, collectives, checks of arguments) is written once above it, in
// parallel/fifo_communicator.h.
#pragma once

#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/tensor.h"
#include "kernels/error.h"
#include "parallel/signature.h"

namespace warpline::parallel {

// What two ranks compare where they meet, in a message or at the begin of a collective, so that calls that
// differ never meet unnoticed.
struct Envelope {
  Signature call;                // the user's call
  std::int64_t collective = -1;  // which collective of this communicator, from 0; -1: none
  std::int64_t part = 0;         // elements of the call that this message holds
};

// What keeps two ends from being one message; empty: nothing.
std::string difference(const Envelope& mine, const Envelope& theirs);

// One end of one message.
struct Message {
  bool sends = false;
  int peer = -1;
  Tensor tensor;  // a view of what is sent or written
  Signature call;
  std::int64_t collective = -1;

  Envelope envelope() const { return {call, collective, tensor.count()}; }
};

// What an exchange throws after cancel().
struct Cancelled : Failure {
  using Failure::Failure;
};

class PointToPoint {
 public:
  virtual ~PointToPoint() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::string name() const = 0;
  virtual Context& context() = 0;  // for the communication thread's own arithmetic and memory

  // From the communication thread only.
  //
  // All messages progress together; those of one ordered pair of ranks match by position. Returns when all
  // are complete. Throws MismatchError where the two ends differ, PeerError where a rank failed or a peer has
  // left. On an error no other thread touches the tensors any more once this has returned.
  virtual void exchange(std::span<const Message> messages) = 0;
  // This rank starts and has completed a call; for reports, and to compare collectives between ranks
  // (MismatchError).
  virtual void begin(std::span<const Signature> calls, std::int64_t collective) = 0;
  virtual void end() = 0;
  // The end point of a new communicator of `members`, ranks of this one in their new order. All members call
  // it, after the same collective.
  virtual std::unique_ptr<PointToPoint> child(const std::vector<int>& members, std::int64_t collective,
                                              const std::string& name) = 0;

  // From any thread.
  //
  // This rank has failed: every exchange of every rank, on this communicator and all its relatives, ends. The
  // first error wins.
  virtual void fail(std::exception_ptr error) = 0;
  // Throws if anything has failed: this rank's own error, or PeerError.
  virtual void check() const = 0;
  // A wait for this call ran past its deadline: fail() with a TimeoutError that says who waits for whom.
  virtual void time_out(const Signature& awaited, double seconds) = 0;
  // Ends this rank's exchange, because an exception unwinds its stack: the error itself is not known yet.
  virtual void cancel() = 0;
  // This rank makes no more calls. Peers that wait for it are told (PeerError), unless it was cancelled.
  virtual void leave() = 0;
};

}  // namespace warpline::parallel
