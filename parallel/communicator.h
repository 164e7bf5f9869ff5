// Ranks talk through a communicator. Calls are enqueued and return at once; each rank and communicator has
// one FIFO, as NCCL on one stream. Calls inside a Group progress together. Every wait has a deadline. The
// interface is what NCCL can do and no more, so that what would hang there hangs, and is reported, here.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "engine/tensor.h"
#include "kernels/error.h"
#include "parallel/signature.h"

namespace warpline::parallel {

// A wait ran past its deadline; the message says who waits for whom in which call.
struct TimeoutError : Failure {
  using Failure::Failure;
};
// Another rank failed first; the message is its error, with its rank.
struct PeerError : Failure {
  using Failure::Failure;
};
// Ranks disagree about a call: count, dtype, kind, order or root; names both sides.
struct MismatchError : Failure {
  using Failure::Failure;
};

// One enqueued call. Copies are handles on one call. A default Work is none: ValueError.
class Work {
 public:
  // What a back end makes of a call.
  struct State {
    Signature signature;
    virtual ~State() = default;
    virtual void wait() = 0;
    virtual bool done() const = 0;
  };
  Work() = default;
  explicit Work(std::shared_ptr<State> state) : state_(std::move(state)) {}
  // Returns when the call is complete, or throws its error. The deadline counts from here, or from the last
  // call that this communicator completed on this rank. ValueError inside the open group of the call.
  void wait() const;
  bool done() const;  // complete, or failed
  const Signature& signature() const;

 private:
  State& state() const;
  std::shared_ptr<State> state_;
};

struct Traffic {
  std::int64_t bytes_sent = 0, bytes_received = 0;  // payload
  std::int64_t messages_sent = 0,
               messages_received = 0;  // point-to-point messages, those inside collectives too
  bool operator==(const Traffic&) const = default;
  Traffic& operator+=(const Traffic& other) {
    bytes_sent += other.bytes_sent;
    bytes_received += other.bytes_received;
    messages_sent += other.messages_sent;
    messages_received += other.messages_received;
    return *this;
  }
};

// Sees each call of one rank and communicator when it is complete: for traces.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  // On the communication thread. Microseconds of the system's clock; the start is when the call came to the
  // head of the FIFO, so waiting for a peer counts.
  virtual void call_done(const Signature& call, std::int64_t start_us, std::int64_t end_us) = 0;
};

// Calls may come from one thread at a time; abort() from any. A destructor first completes what is enqueued
// (with the deadline); while an exception unwinds it drops it. Every call throws PeerError or this rank's own
// error once any rank has failed.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::string name() const = 0;  // "world", "pipeline 0", "data 1": for errors and traces

  // Point to point. The tensor must stay alive and unchanged (send) or unread (recv) until the work is done;
  // the communicator keeps the storage alive. ValueError for a peer outside 0..size-1 or the rank itself.
  virtual Work send(const Tensor& tensor, int peer, const Stream& stream, int tag = -1) = 0;
  virtual Work recv(const Tensor& tensor, int peer, const Stream& stream, int tag = -1) = 0;

  // Calls between begin and end progress together. Use Group. No nesting, no collectives inside (ValueError).
  virtual void group_begin() = 0;
  virtual Work group_end() = 0;     // done when all calls of the group are; done at once without any
  virtual void group_cancel() = 0;  // drops the calls since group_begin()

  // Collectives over all ranks of the communicator. In place where one tensor is given. With one rank they
  // copy. Input and output must not overlap (ValueError), except that all_gather's input may be its place in
  // the output. all_reduce: every rank gets the sum (max) of all ranks' tensors, the same bits on each rank.
  virtual Work all_reduce(const Tensor& tensor, ReduceOp op, const Stream& stream) = 0;
  // output: count elements of the reduced input, which has size() * count.
  virtual Work reduce_scatter(const Tensor& input, const Tensor& output, ReduceOp op,
                              const Stream& stream) = 0;
  virtual Work all_gather(const Tensor& input, const Tensor& output, const Stream& stream) = 0;
  virtual Work broadcast(const Tensor& tensor, int root, const Stream& stream) = 0;
  virtual Work barrier(const Stream& stream) = 0;

  // A collective: ranks of one colour form a new communicator, ordered by (key, rank). A negative colour
  // takes part and gets null.
  virtual std::shared_ptr<Communicator> split(int colour, int key, const std::string& name) = 0;

  // Ends every wait of every rank, on this communicator and all its relatives, with this error (as PeerError
  // on the others). The first error wins. Callable from any thread.
  virtual void abort(std::exception_ptr error) = 0;

  virtual Traffic traffic() const = 0;  // of this rank's completed calls on this communicator
  // Null: none. Takes effect from the next call on.
  virtual void observe(std::shared_ptr<CallObserver> observer) = 0;
};

// Scope of calls that progress together: an exchange in both directions is one group. Without end() the calls
// are dropped.
class Group {
 public:
  explicit Group(Communicator& communicator) : communicator_(communicator) { communicator_.group_begin(); }
  ~Group() {
    if (open_) communicator_.group_cancel();
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  Work end() {
    open_ = false;
    return communicator_.group_end();
  }

 private:
  Communicator& communicator_;
  bool open_ = true;
};

}  // namespace warpline::parallel
