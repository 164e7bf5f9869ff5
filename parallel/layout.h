// How a run is laid out over its ranks, and what follows from that and the model's shapes alone: the cut, the
// plan, who owns which blocks. Every rank computes all of it by itself and gets the same.
#pragma once

#include <string>
#include <vector>

#include "engine/nn/module.h"
#include "parallel/blocks.h"
#include "parallel/buckets.h"
#include "parallel/partition.h"
#include "parallel/plan.h"

namespace warpline::parallel {

enum class CutRule : std::uint8_t {
  Estimated,  // by cost from shapes: the same command always makes the same cut
  Count,      // as many layers each
  Measured,   // rank 0 times the layers and tells the others
};

struct Layout {
  int replicas = 1;       // N, data parallel
  int ranks = 1;          // n, pipeline ranks of each replica; the run has N n ranks
  int chunks = 1;         // v, stages a rank
  int micro_batches = 1;  // global: blocks that a batch is cut into, over all replicas
  std::string schedule = "gpipe";
  bool deterministic = false;  // same bits as any other layout with as many micro-batches
  CutRule cut_rule = CutRule::Estimated;
  std::vector<int> cuts = {};  // by hand: first layer of every stage but the first; empty: by the rule
  int stages() const { return ranks * chunks; }
};

// ValueError: a count below 1, fewer micro-batches than replicas, an unknown schedule or one without
// backward.
void check_layout(const Layout& layout);

// Blocks of each replica.
std::vector<Range> owned_blocks(const Layout& layout);

// A model in stages. One entry a stage, where nothing else is said.
struct ModelCut {
  std::vector<int> cuts;
  std::vector<Layers> stages;
  std::vector<Shape> sample_shapes;        // of one sample at the stage's input; one more: the model's output
  std::vector<bool> input_wants_gradient;  // a stage before it has parameters
  std::vector<std::vector<std::int64_t>> parameter_counts;  // in order of use
  std::vector<double> costs;                                // parallel/partition.h
};

// ShapeError where a layer does not take its input, or does not keep samples apart along the first axis.
// ValueError for cuts that do not fit. layer_costs: as estimate_costs() or measure_costs() gives.
ModelCut cut_model(const Sequential& model, const Shape& sample_shape, const std::vector<double>& layer_costs,
                   const std::vector<int>& cuts);

// Of one replica; validated.
Plan training_plan(const Layout& layout, const ModelCut& cut, const BucketLimits& limits, int replica);
Plan inference_plan(const Layout& layout, const ModelCut& cut, int micro_batches);

}  // namespace warpline::parallel
