// The communicator of every back end whose messages go through PointToPoint: one FIFO of calls, a
// communication thread that works it off, groups, checks of arguments, and our own collectives.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "parallel/caught_error.h"
#include "parallel/collectives/collectives.h"
#include "parallel/communicator.h"
#include "parallel/point_to_point.h"

namespace warpline::parallel {

struct FifoOptions {
  double timeout_seconds = 60.0;
  AllReduceAlgorithm all_reduce = AllReduceAlgorithm::Automatic;
};

class FifoCommunicator final : public Communicator {
 public:
  FifoCommunicator(std::unique_ptr<PointToPoint> transport, const FifoOptions& options);
  ~FifoCommunicator() override;
  FifoCommunicator(const FifoCommunicator&) = delete;
  FifoCommunicator& operator=(const FifoCommunicator&) = delete;

  int rank() const override { return transport_->rank(); }
  int size() const override { return transport_->size(); }
  std::string name() const override { return transport_->name(); }

  Work send(const Tensor& tensor, int peer, const Stream& stream, int tag) override;
  Work recv(const Tensor& tensor, int peer, const Stream& stream, int tag) override;
  void group_begin() override;
  Work group_end() override;
  void group_cancel() override;

  Work all_reduce(const Tensor& tensor, ReduceOp op, const Stream& stream) override;
  Work reduce_scatter(const Tensor& input, const Tensor& output, ReduceOp op, const Stream& stream) override;
  Work all_gather(const Tensor& input, const Tensor& output, const Stream& stream) override;
  Work broadcast(const Tensor& tensor, int root, const Stream& stream) override;
  Work barrier(const Stream& stream) override;

  std::shared_ptr<Communicator> split(int colour, int key, const std::string& name) override;
  void abort(std::exception_ptr error) override;
  Traffic traffic() const override;
  void observe(std::shared_ptr<CallObserver> observer) override;

 private:
  struct Call;
  struct Queue;
  struct Pending;
  using Body = std::function<void(Wire& wire)>;

  Work point_to_point(CallKind kind, const Tensor& tensor, int peer, int tag);
  Work collective(Signature call, Body body);
  Work enqueue(Call call);
  void check_tensor(CallKind kind, const Tensor& tensor) const;
  void work_off();  // the communication thread
  std::optional<CaughtError> run(const Call& call, Traffic& traffic);
  std::int64_t next_sequence() { return sequence_++; }

  std::shared_ptr<PointToPoint> transport_;
  FifoOptions options_;
  std::shared_ptr<Queue> queue_;  // shared with the Works, which may outlive this
  // The calling thread's own.
  std::unique_ptr<Call> group_;  // null: no group is open
  std::int64_t sequence_ = 0, collectives_ = 0;
  std::thread thread_;
};

}  // namespace warpline::parallel
