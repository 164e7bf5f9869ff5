#include "tools/train_options.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/optim/adam.h"
#include "engine/optim/sgd.h"
#include "kernels/error.h"
#include "tools/output_paths.h"
#include "tools/require.h"

namespace warpline::tools {
void TrainOptions::add_flags(Command command) {
  RunOptions::add_flags(command);
  command.add_option("--batch-size", batch_size, "global: images of one optimiser step over all ranks");
  command.add_option("--seed", seed, "of weights and shuffling");
  command.add_option("--chunks", chunks,
                     "pieces of the model on each pipeline rank, where the schedule has them");
  command
      .add_option("--micro-batches", micro_batches,
                  "blocks that the global batch is cut into; serial 1, data N, layer 1, pipeline 4, hybrid "
                  "4 N; with --deterministic 4")
      .default_text("by strategy");
  command.add_option("--schedule", schedule, "order of the pipeline's work: gpipe, 1f1b (layer: naive)")
      .default_text("gpipe");
  command.add_flag("--deterministic", deterministic, "the same bits for every strategy, at some cost");
  command.add_option("--epochs", epochs, "passes over the training set, those before --resume included");
  command.add_option("--steps", steps, "stop after this many optimiser steps, those before --resume included")
      .default_text("all");
  command.add_flag("--evaluate", evaluate, "measure the test accuracy at the end even with --steps");
  command.add_option("--optimizer", optimizer, "sgd, adam or adamw");
  command.add_option("--lr", lr, "learning rate");
  command.add_option("--momentum", momentum, "of sgd");
  command.add_option("--weight-decay", weight_decay, "L2 (sgd, adam) or decoupled (adamw)");
  command.add_option("--checkpoint", checkpoint,
                     "write parameters and optimiser state here, after each epoch and at the end");
  command.add_option("--resume", resume, "continue from a checkpoint, whatever strategy wrote it");
}

void TrainOptions::resolve_schedule(Command command) {
  require_stages(command, "--chunks");
  require_stages(command, "--schedule");
  require_at_least_one("--chunks", chunks);
  if (schedule.empty()) schedule = strategy == "layer" ? "naive" : "gpipe";
  if (strategy == "layer" && schedule != "naive") {
    fail<ValueError>("--schedule", "--strategy layer is the schedule naive; for {} use --strategy pipeline",
                     schedule);
  }
  if (!command.given("--micro-batches")) {
    micro_batches = deterministic            ? 4
                    : strategy == "data"     ? data_parallel
                    : strategy == "pipeline" ? 4
                    : strategy == "hybrid"   ? 4 * data_parallel
                                             : 1;
  }
  require_at_least_one("--micro-batches", micro_batches);
  if (micro_batches < data_parallel) {
    fail<ValueError>("--micro-batches",
                     "{} blocks do not give each of {} replicas one; use --micro-batches {}", micro_batches,
                     data_parallel, data_parallel);
  }
  if (batch_size < micro_batches) {
    fail<ValueError>("--batch-size",
                     "a batch of {} images cannot be cut into {} micro-batches; use a larger batch or "
                     "--micro-batches {}",
                     batch_size, micro_batches, batch_size);
  }
}

void TrainOptions::resolve(Command command) {
  RunOptions::resolve(command);
  resolve_schedule(command);
  seed_given = command.given("--seed");
  epochs_given = command.given("--epochs");
  require_at_least_one("--epochs", epochs);
  if (steps) require_at_least_one("--steps", *steps);
  if (optimizer != "sgd" && optimizer != "adam" && optimizer != "adamw") {
    fail<ValueError>("--optimizer", "no optimiser is called '{}'; there are sgd, adam and adamw", optimizer);
  }
  if (optimizer != "sgd" && command.given("--momentum")) {
    fail<ValueError>("--momentum", "--optimizer {} does not use it; leave it out", optimizer);
  }
  require_not_negative("--lr", lr);
  require_not_negative("--momentum", momentum);
  require_not_negative("--weight-decay", weight_decay);
  // A checkpoint may replace the one that it continues: two checks.
  check_output_paths({{"--checkpoint", checkpoint}, {"--json", json}, {"--trace", trace}}, {});
  check_output_paths({{"--json", json}, {"--trace", trace}}, {{"--resume", resume}});
}

parallel::Layout TrainOptions::layout(const Sequential& layers) const {
  parallel::Layout layout = RunOptions::layout(layers);
  layout.chunks = chunks;
  layout.micro_batches = micro_batches;
  layout.schedule = schedule;
  layout.deterministic = deterministic;
  return layout;
}

std::string TrainOptions::cut_line() const {
  // "15 to 16" where the parts differ.
  const auto sizes = [](std::int64_t whole, std::int64_t parts) {
    const std::int64_t least = whole / parts, most = (whole + parts - 1) / parts;
    return least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
  };
  const auto plural = [](std::int64_t count) { return count == 1 ? "" : "s"; };
  return fmt::format("batch {} = {} replica{} x {} micro-batch{} x {} images", batch_size, data_parallel,
                     plural(data_parallel), sizes(micro_batches, data_parallel),
                     micro_batches > data_parallel ? "es" : "", sizes(batch_size, micro_batches));
}

std::unique_ptr<Optimizer> TrainOptions::make_optimizer(const std::vector<Parameter*>& parameters) const {
  if (optimizer == "sgd") {
    return std::make_unique<Sgd>(parameters,
                                 SgdOptions{.lr = lr, .momentum = momentum, .weight_decay = weight_decay});
  }
  return std::make_unique<Adam>(
      parameters, AdamOptions{.lr = lr, .weight_decay = weight_decay, .decoupled = optimizer == "adamw"});
}

nlohmann::ordered_json TrainOptions::in_force() const {
  nlohmann::ordered_json flags;
  describe(flags);
  flags["chunks"] = chunks;
  flags["micro_batches"] = micro_batches;
  flags["schedule"] = schedule;
  flags["deterministic"] = deterministic;
  flags["data"] = data;
  flags["data_dir"] = data_dir ? nlohmann::ordered_json(*data_dir) : nullptr;
  flags["epochs"] = epochs;
  flags["steps"] = steps ? nlohmann::ordered_json(*steps) : nullptr;
  flags["evaluate"] = evaluate;
  flags["optimizer"] = optimizer;
  flags["lr"] = lr;
  flags["momentum"] = optimizer == "sgd" ? nlohmann::ordered_json(momentum) : nullptr;
  flags["weight_decay"] = weight_decay;
  flags["checkpoint"] = checkpoint;
  flags["resume"] = resume;
  return flags;
}

}  // namespace warpline::tools
