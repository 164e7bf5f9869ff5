// The gradients of one stage, from the contributions of its blocks to one sum over all replicas. It is the
// sink of the stage's backward passes; it marks buckets ready, but the interpreter says when each leaves, so
// that all replicas send theirs in one order.
//
// Fast: contributions are added to the bucket as they arrive, then all-reduced. The same command gives the
// same bits; another layout may not.
// Deterministic: contributions are added by the tree over global blocks (parallel/gradient_tree.h). Each rank
// sends piece c of each of its subtree sums to rank c, which adds them by the same tree; then the pieces are
// gathered. For 4 blocks on 2 replicas:
//
//   rank 0 [0 1] = a0 a1    a1 ->  rank 1: a1 + b1 = s1   -> all-gather: s0 s1 on both
//   rank 1 [2 3] = b0 b1    b0 ->  rank 0: a0 + b0 = s0
//
// With one replica there is no message and no bucket: the sum itself becomes the gradient.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/autograd.h"
#include "engine/nn/module.h"
#include "parallel/buckets.h"
#include "parallel/communicator.h"
#include "parallel/gradient_tree.h"
#include "parallel/observer.h"

namespace warpline::parallel {

// Waits for a call and tells the observer about it.
void wait_observed(const Work& work, Observer& observer);

class GradientReducer final : public GradientSink {
 public:
  // parameters: materialised, in order of use. replicas: the ranks that hold the same stage. owned: blocks of
  // each of them.
  GradientReducer(Context& context, int stage, const std::vector<Parameter*>& parameters,
                  std::shared_ptr<Communicator> replicas, std::vector<Range> owned, bool deterministic,
                  const BucketLimits& limits);

  int buckets() const { return static_cast<int>(buckets_.size()); }

  // One pass over a batch with `live` blocks. Passes add up until finish().
  void begin_pass(std::int64_t live);
  // What comes from now on belongs to this block, until end_block().
  void begin_block(std::int64_t block);
  void accept(Context& context, const Tensor& leaf, Tensor gradient) override;
  void end_block();

  // All contributions of this pass to the bucket are there. on_ready is called at every one that completes a
  // bucket, from within backward.
  bool ready(int bucket) const;
  void set_on_ready(std::function<void()> on_ready) { on_ready_ = std::move(on_ready); }
  // Sends a ready bucket on its way. Returns at once.
  void reduce(int bucket);
  // Waits for all reductions; each parameter's grad() is then the sum over all blocks, or undefined where no
  // replica had one.
  void finish(Observer& observer);
  // After the optimiser step.
  void release();

 private:
  struct Slot {  // of a parameter
    Parameter* parameter = nullptr;
    std::size_t bucket = 0;
    Tensor view;  // of the bucket
    Tensor sum;   // fast: what has been added up; the view, or with one replica a tensor of its own
    std::vector<TreeSum> trees;  // deterministic: one a pass
  };
  struct Bucket {
    BucketLayout layout;
    Tensor flat;
    std::int64_t missing = 0;      // contributions of this pass
    Work work;                     // the exchange or all-reduce, later the gather
    Tensor sent;                   // deterministic: a row for each of this rank's subtree sums
    std::vector<Tensor> received;  // by replica: rows of this rank's piece
  };
  struct PassNode {
    std::size_t pass;
    TreeNode node;
  };

  bool alone() const { return owned_.size() == 1; }
  Range mine() const { return owned_[static_cast<std::size_t>(replicas_->rank())]; }
  std::vector<PassNode> nodes_of(int replica) const;  // over all passes
  Tensor add_passes(std::vector<NodeSums>& sums);
  void fill_flags(Tensor& row, const BucketLayout& layout, const std::vector<bool>& present);
  void pack(Bucket& bucket);
  void combine_piece(Bucket& bucket, Observer& observer);
  void finish_alone();

  Context& context_;
  int stage_;
  std::shared_ptr<Communicator> replicas_;
  std::vector<Range> owned_;
  bool deterministic_;
  std::vector<Slot> slots_;
  std::unordered_map<const TensorImpl*, std::size_t> slot_of_;
  std::vector<Bucket> buckets_;
  std::vector<std::int64_t> passes_;  // live blocks of each
  std::int64_t block_ = -1;
  std::int64_t blocks_left_ = 0;
  std::function<void()> on_ready_;
};

}  // namespace warpline::parallel
