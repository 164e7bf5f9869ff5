// A worker's start: what every rank works out by itself, and what they then make sure of together.
#include <algorithm>
#include <iterator>
#include <sstream>

#include <fmt/ranges.h>

#include "kernels/error.h"
#include "parallel/handshake.h"
#include "parallel/mesh.h"
#include "parallel/texts.h"
#include "parallel/worker_impl.h"

namespace warpline::parallel {
namespace {

// What all ranks must have in common before they can talk about anything else.
std::string describe_run(const Sequential& model, const Shape& sample_shape, const Layout& layout,
                         const WorkerOptions& options) {
  std::string text = fmt::format(
      "replicas {}\npipeline ranks {}\nchunks {}\nmicro-batches {}\nschedule {}\ndeterministic {}\ncut rule "
      "{}\ncuts [{}]\nseed {}\nbuckets of {} and {} bytes\nsample {}\n",
      layout.replicas, layout.ranks, layout.chunks, layout.micro_batches, layout.schedule,
      layout.deterministic, static_cast<int>(layout.cut_rule), fmt::join(layout.cuts, " "), options.seed,
      options.buckets.first_bytes, options.buckets.bytes, warpline::to_string(sample_shape));
  for (int i = 0; i < model.size(); ++i) {
    text += fmt::format("layer {} {}\n", model.name(i), model.layer(i).describe());
    for (const Parameter* parameter : model.slice(i, i + 1).parameters()) {
      text += fmt::format("parameter {} {}\n", parameter->name, warpline::to_string(parameter->shape));
    }
  }
  return text;
}

}  // namespace

Worker::Impl::Impl(Context& run_context, const Sequential& whole, const Shape& sample_shape,
                   LossFunction loss, const Layout& run_layout, std::shared_ptr<Communicator> run_world,
                   const WorkerOptions& run_options)
    : context(run_context),
      model(whole.slice(0, whole.size())),
      layout(run_layout),
      options(run_options),
      world(std::move(run_world)),
      train_recorder(world->rank(), context.device_stream(), options.trace),
      stream_recorder(world->rank(), context.device_stream(), options.trace) {
  check_layout(layout);
  if (world->size() != layout.replicas * layout.ranks) {
    fail<ValueError>("worker", "{} replicas x {} pipeline ranks need {} ranks; this run has {}",
                     layout.replicas, layout.ranks, layout.replicas * layout.ranks, world->size());
  }
  require_same_text(context, *world, "the run", describe_run(model, sample_shape, layout, options));
  const std::vector<double> costs = layer_costs(sample_shape);
  cut = cut_model(model, sample_shape, costs, choose_cuts(costs));
  const Mesh mesh(layout.replicas, layout.ranks);
  replica = mesh.replica(world->rank());
  owned = part(layout.micro_batches, layout.replicas, replica);
  plan = training_plan(layout, cut, options.buckets, replica);
  const Slice row = mesh.pipeline_slice(world->rank());
  const Slice column = mesh.data_slice(world->rank());
  pipeline = world->split(row.colour, row.key, fmt::format("pipeline {}", row.colour));
  replicas = world->split(column.colour, column.key, fmt::format("data {}", column.colour));
  if (options.trace) {
    calls = std::make_shared<CallLog>(world->rank());
    pipeline->observe(calls);
    replicas->observe(calls);
  }
  require_same_plan(context, *pipeline, plan);
  context.random.seed = options.seed;
  hold_stages(loss);
  require_same_parameters(context, *replicas, parameters);
  list = plan.per_rank[static_cast<std::size_t>(pipeline->rank())];
  std::ranges::copy_if(list, std::back_inserter(accumulate_list), [](const Action& action) {
    return action.op != Op::ReduceGrads && action.op != Op::Step;
  });
  trainer = std::make_unique<Executor>(context, pipeline, plan.stages, cut.sample_shapes,
                                       cut.input_wants_gradient, held(true), train_recorder);
  streamer = std::make_unique<Executor>(context, pipeline, plan.stages, cut.sample_shapes,
                                        cut.input_wants_gradient, held(false), stream_recorder);
}

// Rank 0 measures and tells: clocks differ, cuts must not.
std::vector<double> Worker::Impl::layer_costs(const Shape& sample_shape) {
  if (layout.cut_rule != CutRule::Measured) return estimate_costs(model, sample_shape);
  std::string text;
  if (world->rank() == 0) {
    text = fmt::format("{}", fmt::join(measure_costs(context, model, sample_shape), " "));
  }
  std::istringstream stream(broadcast_text(context, *world, text));
  return {std::istream_iterator<double>(stream), {}};
}

std::vector<int> Worker::Impl::choose_cuts(const std::vector<double>& costs) const {
  if (layout.cuts.empty() && layout.cut_rule == CutRule::Count) {
    return cut_by_count(model.size(), layout.stages());
  }
  if (layout.cuts.empty()) return cut_by_cost(costs, layout.stages());
  if (static_cast<int>(layout.cuts.size()) + 1 != layout.stages()) {
    fail<ValueError>("worker", "{} cuts make {} stages, not {}", layout.cuts.size(), layout.cuts.size() + 1,
                     layout.stages());
  }
  return layout.cuts;
}

void Worker::Impl::hold_stages(LossFunction loss) {
  for (int j = 0; j < plan.stages; ++j) {
    if (plan.stage_to_rank[static_cast<std::size_t>(j)] != pipeline->rank()) continue;
    const Layers range = cut.stages[static_cast<std::size_t>(j)];
    Sequential layers = model.slice(range.begin, range.end);
    layers.materialise(context, options.seed);
    const std::vector<Parameter*> own = layers.parameters();
    parameters.insert(parameters.end(), own.begin(), own.end());
    reducers.emplace(j, std::make_unique<GradientReducer>(context, j, own, replicas, owned_blocks(layout),
                                                          layout.deterministic, options.buckets));
    stages.emplace(j, std::make_unique<Stage>(context, std::move(layers),
                                              cut.input_wants_gradient[static_cast<std::size_t>(j)],
                                              j == plan.stages - 1 ? loss : nullptr));
  }
}

std::map<int, HeldStage> Worker::Impl::held(bool training) const {
  std::map<int, HeldStage> all;
  for (const auto& [j, stage] : stages) {
    all.emplace(j, HeldStage{stage.get(), training ? reducers.at(j).get() : nullptr});
  }
  return all;
}

}  // namespace warpline::parallel
