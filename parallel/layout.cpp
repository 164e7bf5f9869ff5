#include "parallel/layout.h"

#include "kernels/dtype.h"
#include "kernels/error.h"
#include "parallel/lowering.h"
#include "parallel/schedule.h"
#include "parallel/validate.h"

namespace warpline::parallel {
namespace {

// The shape of one sample behind `model`, from the shapes that it gives for one sample and for two.
Shape sample_output(const Sequential& model, const Shape& sample_shape) {
  const auto output = [&](std::int64_t samples) {
    Shape shape = sample_shape;
    shape.insert(shape.begin(), samples);
    return model.output_shape(shape);
  };
  Shape one = output(1);
  Shape two = output(2);
  const bool apart = !one.empty() && !two.empty() && one[0] == 1 && two[0] == 2;
  if (apart) {
    one.erase(one.begin());
    two.erase(two.begin());
  }
  if (!apart || one != two) {
    fail<ShapeError>(
        "layout",
        "{} gives {} for one sample and {} for two: a batch can be cut only where the first axis "
        "counts the samples",
        model.describe(), to_string(output(1)), to_string(output(2)));
  }
  return one;
}

Plan lower_and_check(const Plan& compute, const LoweringOptions& options) {
  Plan plan = lower(compute, options);
  require_valid(validate(plan));
  return plan;
}

// Both halves of backward cost as much as forward: each is one product of the same sizes.
Costs stage_costs(const ModelCut& cut) {
  return {.forward = cut.costs, .backward_input = cut.costs, .backward_weight = cut.costs};
}

}  // namespace

void check_layout(const Layout& layout) {
  const auto positive = [](const char* what, int value) {
    if (value < 1) fail<ValueError>("layout", "{} must be at least 1, not {}", what, value);
  };
  positive("replicas", layout.replicas);
  positive("pipeline ranks", layout.ranks);
  positive("chunks", layout.chunks);
  positive("micro-batches", layout.micro_batches);
  if (layout.micro_batches < layout.replicas) {
    fail<ValueError>("layout",
                     "{} micro-batches for {} replicas: each replica needs at least one; use at least {} "
                     "micro-batches",
                     layout.micro_batches, layout.replicas, layout.replicas);
  }
  if (!find_schedule(layout.schedule).has_backward) {
    fail<ValueError>("layout", "schedule {} has no backward, so it cannot train", layout.schedule);
  }
}

std::vector<Range> owned_blocks(const Layout& layout) {
  std::vector<Range> owned;
  for (int r = 0; r < layout.replicas; ++r) owned.push_back(part(layout.micro_batches, layout.replicas, r));
  return owned;
}

ModelCut cut_model(const Sequential& model, const Shape& sample_shape, const std::vector<double>& layer_costs,
                   const std::vector<int>& cuts) {
  check_cuts(cuts, model.size());
  ModelCut cut;
  cut.cuts = cuts;
  cut.stages = stages_of(cuts, model.size());
  cut.sample_shapes.push_back(sample_shape);
  bool parameters_before = false;
  for (const Layers layers : cut.stages) {
    Sequential stage = model.slice(layers.begin, layers.end);
    cut.input_wants_gradient.push_back(parameters_before);
    cut.sample_shapes.push_back(sample_output(stage, cut.sample_shapes.back()));
    cut.parameter_counts.emplace_back();
    for (const Parameter* parameter : stage.parameters()) {
      cut.parameter_counts.back().push_back(element_count(parameter->shape));
      parameters_before = true;
    }
    double cost = 0;
    for (int i = layers.begin; i < layers.end; ++i) cost += layer_costs[static_cast<std::size_t>(i)];
    cut.costs.push_back(cost);
  }
  return cut;
}

Plan training_plan(const Layout& layout, const ModelCut& cut, const BucketLimits& limits, int replica) {
  const Range owned = part(layout.micro_batches, layout.replicas, replica);
  const PipelineShape shape{layout.ranks, static_cast<int>(owned.size()), layout.chunks};
  LoweringOptions options;
  options.costs = stage_costs(cut);
  if (layout.replicas > 1) {
    const auto element_bytes = static_cast<std::int64_t>(size_of(DType::Float32));
    for (const std::vector<std::int64_t>& counts : cut.parameter_counts) {
      options.buckets.push_back(
          static_cast<int>(assign_buckets(counts, element_bytes, limits, layout.replicas).size()));
    }
  }
  return lower_and_check(compute_plan(find_schedule(layout.schedule), shape), options);
}

Plan inference_plan(const Layout& layout, const ModelCut& cut, int micro_batches) {
  const PipelineShape shape{layout.ranks, micro_batches, layout.chunks};
  return lower_and_check(compute_plan(find_schedule("inference"), shape), {.costs = stage_costs(cut)});
}

}  // namespace warpline::parallel
