#include "parallel/expected_traffic.h"

#include "kernels/dtype.h"
#include "parallel/collectives/algorithm.h"
#include "parallel/gradient_tree.h"
#include "parallel/schedule.h"

namespace warpline::parallel {
namespace {

constexpr std::int64_t kElement = sizeof(float);

int log2_of(int ranks) { return root_of(ranks).level; }

void add(Traffic& traffic, std::int64_t bytes_sent, std::int64_t messages_sent, std::int64_t bytes_received,
         std::int64_t messages_received) {
  traffic += {bytes_sent, bytes_received, messages_sent, messages_received};
}

// Rows of a bucket that a replica brings to the exchange.
std::int64_t subtrees(const Layout& layout, int replica, std::int64_t live) {
  const Range owned = part(layout.micro_batches, layout.replicas, replica);
  return static_cast<std::int64_t>(maximal_subtrees(owned, live).size());
}

void add_deterministic(Traffic& traffic, const Layout& layout, int replica, std::int64_t bytes,
                       std::int64_t live) {
  const std::int64_t others = layout.replicas - 1;
  const std::int64_t piece = bytes / layout.replicas;
  const std::int64_t mine = subtrees(layout, replica, live);
  std::int64_t theirs = -mine;
  for (int r = 0; r < layout.replicas; ++r) theirs += subtrees(layout, r, live);
  add(traffic, others * piece * mine, others * mine, piece * theirs, theirs);
  add(traffic, others * piece, others, others * piece, others);
}

// Of the sum's binary tree over ranks: up once, down once.
void add_tree(Traffic& traffic, int ranks, int rank, std::int64_t bytes) {
  std::int64_t children = 0;
  for (int step = 1; step < ranks && rank % (2 * step) == 0; step *= 2)
    children += rank + step < ranks ? 1 : 0;
  const std::int64_t neighbours = children + (rank == 0 ? 0 : 1);
  add(traffic, bytes * neighbours, neighbours, bytes * neighbours, neighbours);
}

void add_fast(Traffic& traffic, int ranks, int rank, std::int64_t bytes) {
  const std::int64_t both_halves = 2 * (ranks - 1) * (bytes / ranks);
  switch (choose_all_reduce(AllReduceAlgorithm::Automatic, bytes, ranks)) {
    case AllReduceAlgorithm::Tree:
      return add_tree(traffic, ranks, rank, bytes);
    case AllReduceAlgorithm::HalvingDoubling:
      return add(traffic, both_halves, 2 * log2_of(ranks), both_halves, 2 * log2_of(ranks));
    case AllReduceAlgorithm::Automatic:
    case AllReduceAlgorithm::Ring:
      return add(traffic, both_halves, 2 * (ranks - 1), both_halves, 2 * (ranks - 1));
  }
}

// Between stage j - 1 and stage j: what the rank that holds one side sends to the other.
void add_boundary(Traffic& traffic, const ModelCut& cut, std::size_t stage, bool before, std::int64_t samples,
                  std::int64_t blocks) {
  const std::int64_t bytes = kElement * samples * element_count(cut.sample_shapes[stage]);
  const bool back = cut.input_wants_gradient[stage];
  if (before) {
    add(traffic, bytes, blocks, back ? bytes : 0, back ? blocks : 0);
  } else {
    add(traffic, back ? bytes : 0, back ? blocks : 0, bytes, blocks);
  }
}

}  // namespace

Traffic expected_traffic(const Layout& layout, const ModelCut& cut, const BucketLimits& limits, int rank,
                         std::int64_t count) {
  const Blocks blocks(count, layout.micro_batches);
  const int replica = rank / layout.ranks;
  const Range owned = part(layout.micro_batches, layout.replicas, replica);
  const std::vector<int> holder =
      stage_to_rank(find_schedule(layout.schedule).placement, {layout.ranks, 1, layout.chunks});
  Traffic traffic;
  for (std::size_t stage = 0; stage < holder.size(); ++stage) {
    const bool held = holder[stage] == rank % layout.ranks;
    if (stage > 0 && holder[stage - 1] != holder[stage] &&
        (held || holder[stage - 1] == rank % layout.ranks)) {
      add_boundary(traffic, cut, stage, !held, blocks.samples(owned).size(),
                   clip(owned, blocks.live()).size());
    }
    if (!held || layout.replicas == 1) continue;
    for (const BucketLayout& bucket :
         assign_buckets(cut.parameter_counts[stage], kElement, limits, layout.replicas)) {
      if (layout.deterministic) {
        add_deterministic(traffic, layout, replica, bucket.count * kElement, blocks.live());
      } else {
        add_fast(traffic, layout.replicas, replica, bucket.count * kElement);
      }
    }
  }
  return traffic;
}

}  // namespace warpline::parallel
