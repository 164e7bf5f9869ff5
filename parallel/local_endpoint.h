// One rank's end of one communicator of back end `local`.
#pragma once

#include <memory>
#include <random>

#include "engine/context.h"
#include "parallel/local_world.h"
#include "parallel/point_to_point.h"

namespace warpline::parallel::local {

class Endpoint final : public PointToPoint {
 public:
  Endpoint(std::shared_ptr<World> world, std::shared_ptr<Domain> domain, int rank, Device device);

  int rank() const override { return rank_; }
  int size() const override { return domain_->members.size(); }
  std::string name() const override { return domain_->members.name; }
  Context& context() override { return context_; }

  void exchange(std::span<const Message> messages) override;
  void begin(std::span<const Signature> calls, std::int64_t collective) override;
  void end() override;
  std::unique_ptr<PointToPoint> child(const std::vector<int>& members, std::int64_t collective,
                                      const std::string& name) override;
  void fail(std::exception_ptr error) override;
  void check() const override;
  void time_out(const Signature& awaited, double seconds) override;
  void cancel() override;
  void leave() override;

 private:
  class Exchange;

  Peer& me() { return domain_->peer(rank_); }
  int world_rank() const { return domain_->members.world_rank(rank_); }
  void throw_if_over();  // failed or cancelled; under the lock
  // Fails the ranks that disagree. Under the lock.
  void fail(const Disagreement& disagreement);

  std::shared_ptr<World> world_;
  std::shared_ptr<Domain> domain_;
  int rank_;
  Signature last_of_current_;  // of the group that has begun
  Context context_;            // its own memory, so that messages do not show in the rank's figures
  std::mt19937_64 random_;     // of the order in which a group is tried
};

}  // namespace warpline::parallel::local
