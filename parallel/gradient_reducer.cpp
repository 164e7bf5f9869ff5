#include "parallel/gradient_reducer.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/inplace.h"
#include "kernels/error.h"

namespace warpline::parallel {
namespace {

// The number that changes nothing it is added to; 0.0 would turn -0.0 into 0.0.
constexpr double kNothing = -0.0;

Tensor piece_of(const Tensor& tensor, std::int64_t offset, std::int64_t count) {
  return Tensor::view_of(tensor, offset, {count});
}

}  // namespace

void wait_observed(const Work& work, Observer& observer) {
  if (work.done()) return work.wait();  // for its error
  observer.waiting();
  work.wait();
  observer.waited();
}

GradientReducer::GradientReducer(Context& context, int stage, const std::vector<Parameter*>& parameters,
                                 std::shared_ptr<Communicator> replicas, std::vector<Range> owned,
                                 bool deterministic, const BucketLimits& limits)
    : context_(context),
      stage_(stage),
      replicas_(std::move(replicas)),
      owned_(std::move(owned)),
      deterministic_(deterministic) {
  std::vector<std::int64_t> counts;
  for (Parameter* parameter : parameters) {
    slot_of_.emplace(parameter->value.impl(), slots_.size());
    slots_.push_back({.parameter = parameter, .view = {}, .sum = {}, .trees = {}});
    counts.push_back(parameter->value.count());
    if (parameter->value.dtype() != parameters[0]->value.dtype()) {
      fail<DTypeError>("data parallel", "{} is {} and {} is {}: the parameters of a stage have one dtype",
                       parameters[0]->name, to_string(parameters[0]->value.dtype()), parameter->name,
                       to_string(parameter->value.dtype()));
    }
  }
  if (alone() || slots_.empty()) return;
  const DType dtype = parameters[0]->value.dtype();
  for (BucketLayout& layout : assign_buckets(counts, static_cast<std::int64_t>(size_of(dtype)), limits,
                                             static_cast<int>(owned_.size()))) {
    Bucket bucket;
    bucket.flat = Tensor::zeros(context, {layout.count}, dtype);
    for (std::size_t k = 0; k < layout.parameters.size(); ++k) {
      Slot& slot = slots_[layout.parameters[k]];
      slot.bucket = buckets_.size();
      slot.view = Tensor::view_of(bucket.flat, layout.offsets[k], slot.parameter->value.shape());
    }
    bucket.layout = std::move(layout);
    buckets_.push_back(std::move(bucket));
  }
}

void GradientReducer::begin_pass(std::int64_t live) {
  passes_.push_back(live);
  blocks_left_ = clip(mine(), live).size();
  for (Bucket& bucket : buckets_) {
    bucket.missing = blocks_left_ * static_cast<std::int64_t>(bucket.layout.parameters.size());
  }
  if (!deterministic_) return;
  for (Slot& slot : slots_) slot.trees.emplace_back(mine(), live);
}

void GradientReducer::begin_block(std::int64_t block) { block_ = block; }

void GradientReducer::accept(Context& context, const Tensor& leaf, Tensor gradient) {
  const auto found = slot_of_.find(leaf.impl());
  if (found == slot_of_.end()) {
    fail<AutogradError>("data parallel", "a gradient arrived for '{}', which is no parameter of stage {}",
                        leaf.name(), stage_);
  }
  Slot& slot = slots_[found->second];
  if (deterministic_) {
    slot.trees.back().add(context, block_, std::move(gradient));
  } else if (slot.sum.defined()) {
    add_into(context, slot.sum, gradient);
  } else if (alone()) {
    slot.sum = std::move(gradient);
  } else {
    slot.sum = slot.view;
    copy_into(context, slot.sum, gradient);
  }
  if (buckets_.empty()) return;
  if (--buckets_[slot.bucket].missing == 0 && on_ready_) on_ready_();
}

void GradientReducer::end_block() {
  block_ = -1;
  --blocks_left_;
}

// A parameter that a block did not use never contributes; the end of the last block settles it.
bool GradientReducer::ready(int bucket) const {
  return blocks_left_ == 0 || buckets_[static_cast<std::size_t>(bucket)].missing == 0;
}

void GradientReducer::reduce(int index) {
  Bucket& bucket = buckets_[static_cast<std::size_t>(index)];
  if (deterministic_) {
    pack(bucket);
    return;
  }
  std::vector<bool> present;
  for (const std::size_t p : bucket.layout.parameters) {
    Slot& slot = slots_[p];
    present.push_back(slot.sum.defined());
    if (!present.back()) fill_(context_, slot.view, kNothing);
  }
  fill_flags(bucket.flat, bucket.layout, present);
  bucket.work = replicas_->all_reduce(bucket.flat, ReduceOp::Sum, context_.stream());
}

void GradientReducer::fill_flags(Tensor& row, const BucketLayout& layout, const std::vector<bool>& present) {
  Tensor tail = piece_of(row, layout.flags, layout.count - layout.flags);
  fill_(context_, tail, 0.0);
  for (std::size_t k = 0; k < present.size(); ++k) {
    Tensor flag = piece_of(tail, static_cast<std::int64_t>(k), 1);
    if (present[k]) fill_(context_, flag, 1.0);
  }
}

std::vector<GradientReducer::PassNode> GradientReducer::nodes_of(int replica) const {
  std::vector<PassNode> nodes;
  for (std::size_t pass = 0; pass < passes_.size(); ++pass) {
    for (const TreeNode node : maximal_subtrees(owned_[static_cast<std::size_t>(replica)], passes_[pass])) {
      nodes.push_back({pass, node});
    }
  }
  return nodes;
}

// One row for each subtree sum, then each replica gets its piece of every row.
void GradientReducer::pack(Bucket& bucket) {
  const BucketLayout& layout = bucket.layout;
  const int ranks = replicas_->size();
  const int me = replicas_->rank();
  const auto rows = static_cast<std::int64_t>(nodes_of(me).size());
  std::vector<std::vector<Tensor>> sums(layout.parameters.size());  // [parameter][row]
  for (std::size_t k = 0; k < sums.size(); ++k) {
    for (TreeSum& tree : slots_[layout.parameters[k]].trees) {
      for (Tensor& sum : tree.take(context_)) sums[k].push_back(std::move(sum));
    }
  }
  bucket.sent = Tensor::empty(context_, {rows, layout.count}, bucket.flat.dtype());
  for (std::int64_t row = 0; row < rows; ++row) {
    Tensor flat = piece_of(bucket.sent, row * layout.count, layout.count);
    std::vector<bool> present;
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const Tensor& sum = sums[k][static_cast<std::size_t>(row)];
      Tensor view = Tensor::view_of(flat, layout.offsets[k], slots_[layout.parameters[k]].parameter->shape);
      present.push_back(sum.defined());
      if (sum.defined()) {
        copy_into(context_, view, sum);
      } else {
        fill_(context_, view, kNothing);
      }
    }
    fill_flags(flat, layout, present);
  }
  const std::int64_t piece = layout.count / ranks;
  const Stream stream = context_.stream();
  bucket.received.assign(static_cast<std::size_t>(ranks), {});
  Group group(*replicas_);
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer == me) continue;
    for (std::int64_t row = 0; row < rows; ++row) {
      replicas_->send(piece_of(bucket.sent, row * layout.count + peer * piece, piece), peer, stream);
    }
    const auto theirs = static_cast<std::int64_t>(nodes_of(peer).size());
    Tensor& buffer = bucket.received[static_cast<std::size_t>(peer)];
    buffer = Tensor::empty(context_, {theirs, piece}, bucket.flat.dtype());
    for (std::int64_t row = 0; row < theirs; ++row) {
      replicas_->recv(piece_of(buffer, row * piece, piece), peer, stream);
    }
  }
  bucket.work = group.end();
}

// The sums of the passes, each by its tree, in the order of the passes.
Tensor GradientReducer::add_passes(std::vector<NodeSums>& sums) {
  Tensor total;
  for (std::size_t pass = 0; pass < sums.size(); ++pass) {
    Tensor sum = combine_below(context_, root_of(passes_[pass]), sums[pass]);
    if (!total.defined()) {
      total = std::move(sum);
    } else if (sum.defined()) {
      add_into(context_, total, sum);
    }
  }
  return total;
}

// After the exchange: this rank's piece of the sum, then everybody's.
void GradientReducer::combine_piece(Bucket& bucket, Observer& observer) {
  wait_observed(bucket.work, observer);
  const int ranks = replicas_->size();
  const int me = replicas_->rank();
  const std::int64_t piece = bucket.layout.count / ranks;
  std::vector<NodeSums> sums(passes_.size());
  for (int replica = 0; replica < ranks; ++replica) {
    const std::vector<PassNode> nodes = nodes_of(replica);
    for (std::size_t row = 0; row < nodes.size(); ++row) {
      const auto r = static_cast<std::int64_t>(row);
      sums[nodes[row].pass].emplace(
          nodes[row].node,
          replica == me ? piece_of(bucket.sent, r * bucket.layout.count + me * piece, piece)
                        : piece_of(bucket.received[static_cast<std::size_t>(replica)], r * piece, piece));
    }
  }
  const Tensor sum = add_passes(sums);
  bucket.work = replicas_->all_gather(sum, bucket.flat, context_.stream());
  bucket.sent = Tensor();
  bucket.received.clear();
}

void GradientReducer::finish(Observer& observer) {
  if (alone()) {
    finish_alone();
  } else {
    if (deterministic_) {
      for (Bucket& bucket : buckets_) combine_piece(bucket, observer);
    }
    for (Bucket& bucket : buckets_) {
      wait_observed(bucket.work, observer);
      bucket.work = Work();
      for (std::size_t k = 0; k < bucket.layout.parameters.size(); ++k) {
        Slot& slot = slots_[bucket.layout.parameters[k]];
        const Tensor flag = piece_of(bucket.flat, bucket.layout.flags + static_cast<std::int64_t>(k), 1);
        slot.parameter->value.set_grad(flag.item() > 0 ? slot.view : Tensor());
      }
    }
  }
  passes_.clear();
  for (Slot& slot : slots_) {
    slot.sum = Tensor();
    slot.trees.clear();
  }
}

void GradientReducer::finish_alone() {
  for (Slot& slot : slots_) {
    if (!deterministic_) {
      slot.parameter->value.set_grad(std::move(slot.sum));
      continue;
    }
    std::vector<NodeSums> sums(passes_.size());
    for (std::size_t pass = 0; pass < passes_.size(); ++pass) {
      const std::vector<TreeNode> nodes = maximal_subtrees(mine(), passes_[pass]);
      std::vector<Tensor> values = slot.trees[pass].take(context_);
      for (std::size_t k = 0; k < nodes.size(); ++k) {
        if (values[k].defined()) sums[pass].emplace(nodes[k], std::move(values[k]));
      }
    }
    slot.parameter->value.set_grad(add_passes(sums));
  }
}

void GradientReducer::release() {
  if (!alone()) return;
  for (Slot& slot : slots_) slot.parameter->value.set_grad(Tensor());
}

}  // namespace warpline::parallel
