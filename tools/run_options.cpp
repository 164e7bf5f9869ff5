#include "tools/run_options.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/error.h"
#include "models/load_dataset.h"
#include "models/model.h"
#include "parallel/backends.h"
#include "parallel/partition.h"
#include "parallel/schedule.h"

namespace warpline::tools {
namespace {

// How a strategy uses the flags; a flag that it does not use is refused rather than ignored.
struct Strategy {
  const char* name;
  bool replicas, stages;
  const char* schedule;
};
constexpr Strategy kStrategies[] = {
    {"serial", false, false, "gpipe"},  {"data", true, false, "gpipe"},  {"layer", false, true, "naive"},
    {"pipeline", false, true, "gpipe"}, {"hybrid", true, true, "gpipe"},
};

const Strategy& find_strategy(const std::string& name) {
  for (const Strategy& strategy : kStrategies) {
    if (name == strategy.name) return strategy;
  }
  fail<ValueError>("--strategy",
                   "no strategy is called '{}'; there are serial, data, layer, pipeline and hybrid", name);
}

void require_at_least_one(const char* flag, std::int64_t value) {
  if (value < 1) fail<ValueError>(flag, "must be at least 1; got {}", value);
}

void require_positive_seconds(const char* flag, double value) {
  if (!std::isfinite(value) || value <= 0)
    fail<ValueError>(flag, "must be a positive number of seconds; got {}", value);
}

parallel::SendMode parse_send_mode(const std::string& name) {
  if (name == "rendezvous") return parallel::SendMode::Rendezvous;
  if (name == "bounded") return parallel::SendMode::Bounded;
  if (name == "buffered") return parallel::SendMode::Buffered;
  fail<ValueError>("--send-mode", "no send mode is called '{}'; there are rendezvous, bounded and buffered",
                   name);
}

}  // namespace

void RunOptions::add_flags(CLI::App& command) {
  command.option_defaults()->always_capture_default();
  command.add_option("--model", model,
                     "net (two convolutions), mlp (three dense layers) or vgg (a deeper stack)");
  command.add_option("--depth", depth, "vgg: how many layers it can be cut into, 2 to 24");
  command.add_option("--strategy", strategy, "serial, data, layer, pipeline or hybrid (data x pipeline)");
  command.add_option("--data-parallel", data_parallel, "replicas of the model (data, hybrid); 2 by default")
      ->default_str("2");
  command
      .add_option("--stages", stages,
                  "ranks that share the layers of a replica (layer, pipeline, hybrid); 2 by default")
      ->default_str("2");
  command.add_option("--chunks", chunks,
                     "pieces of the model on each pipeline rank, where the schedule has them");
  command.add_option(
      "--micro-batches", micro_batches,
      "blocks that the global batch is cut into; serial 1, data N, layer 1, pipeline 4, hybrid 4 N; with "
      "--deterministic 4");
  command.add_option("--schedule", schedule, "order of the pipeline's work: gpipe, 1f1b (layer: naive)")
      ->default_str("gpipe");
  command.add_option("--cut", cut,
                     "first layers of stages 1, 2, ..., names or numbers, comma-separated; default: by cost");
  command.add_option("--device", device,
                     "cpu (fast) or ref (slow and obvious); rank r takes device r of that kind");
  command.add_option("--backend", backend, "how ranks talk; local: threads of this process");
  command.add_option("--threads", threads, "CPU threads of each rank; default: cores / ranks")
      ->default_str("auto");
  command.add_option("--batch-size", batch_size, "global: images of one optimiser step over all ranks");
  command.add_option("--seed", seed, "of weights and shuffling");
  command.add_flag("--deterministic", deterministic, "the same bits for every strategy, at some cost");
  command.add_option("--send-mode", send_mode, "when a send is done: rendezvous, bounded or buffered");
  command.add_option("--order-seed", order_seed, "of the order in which ready calls progress");
  command.add_option("--timeout", timeout, "seconds that any wait may take");
  command.add_option("--message-delay", message_delay,
                     "seconds added to every message, to see what overlaps");
  command.add_option("--data", data,
                     "auto (MNIST where it is found, else the built-in digits), mnist or builtin");
  command.add_option("--data-dir", data_dir,
                     "folder of the four MNIST files; else $WARPLINE_DATA, data/mnist");
  command.add_option("--json", json, "write the results to this file");
  command.add_option("--trace", trace,
                     "write a timeline for ui.perfetto.dev or chrome://tracing to this file");
}

void RunOptions::resolve(const CLI::App& command, bool inference) {
  const Strategy& chosen = find_strategy(strategy);
  const auto given = [&](const char* flag) { return command.count(flag) > 0; };
  const auto refuse_unused = [&](const char* flag, bool used) {
    if (given(flag) && !used) fail<ValueError>(flag, "--strategy {} does not use it; leave it out", strategy);
  };
  refuse_unused("--data-parallel", chosen.replicas);
  refuse_unused("--stages", chosen.stages);
  refuse_unused("--chunks", chosen.stages);
  refuse_unused("--cut", chosen.stages);
  refuse_unused("--schedule", chosen.stages);
  if (given("--depth") && model != "vgg")
    fail<ValueError>("--depth", "only --model vgg has it; got --model {}", model);
  if (!given("--data-parallel")) data_parallel = chosen.replicas ? 2 : 1;
  if (!given("--stages")) stages = chosen.stages ? 2 : 1;
  require_at_least_one("--data-parallel", data_parallel);
  require_at_least_one("--stages", stages);
  require_at_least_one("--chunks", chunks);
  require_at_least_one("--batch-size", batch_size);
  require_positive_seconds("--timeout", timeout);
  if (!std::isfinite(message_delay) || message_delay < 0) {
    fail<ValueError>("--message-delay", "must not be negative; got {}", message_delay);
  }
  if (static_cast<std::int64_t>(data_parallel) * stages > 1024) {
    fail<ValueError>("--data-parallel", "{} replicas x {} stages are more than 1,024 ranks; use fewer",
                     data_parallel, stages);
  }
  if (given("--threads")) {
    require_at_least_one("--threads", threads);
  } else {
    threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / ranks());
  }
  parse_device_kind(device);
  parse_send_mode(send_mode);
  parallel::find_backend(backend);

  if (inference) {
    if (given("--micro-batches"))
      fail<ValueError>("--micro-batches", "inference streams whole batches; leave it out");
    if (given("--schedule")) fail<ValueError>("--schedule", "inference has one schedule; leave it out");
    schedule = "inference";
    return;
  }
  if (schedule.empty()) schedule = chosen.schedule;
  if (strategy == "layer" && schedule != "naive") {
    fail<ValueError>("--schedule", "--strategy layer is the schedule naive; for {} use --strategy pipeline",
                     schedule);
  }
  if (!micro_batches) {
    micro_batches = deterministic            ? 4
                    : strategy == "data"     ? data_parallel
                    : strategy == "pipeline" ? 4
                    : strategy == "hybrid"   ? 4 * data_parallel
                                             : 1;
  }
  require_at_least_one("--micro-batches", *micro_batches);
  if (*micro_batches < data_parallel) {
    fail<ValueError>("--micro-batches",
                     "{} blocks do not give each of {} replicas one; use --micro-batches {}", *micro_batches,
                     data_parallel, data_parallel);
  }
  if (batch_size < *micro_batches) {
    fail<ValueError>("--batch-size",
                     "a batch of {} images cannot be cut into {} micro-batches; use a larger batch or "
                     "--micro-batches {}",
                     batch_size, *micro_batches, batch_size);
  }
}

parallel::Layout RunOptions::layout(const Sequential& layers) const {
  return {
      .replicas = data_parallel,
      .ranks = stages,
      .chunks = chunks,
      .micro_batches = micro_batches.value_or(data_parallel),
      // A worker's schedule is that of its training steps; its infer() streams by `inference` in any case.
      .schedule = schedule == "inference" ? "gpipe" : schedule,
      .deterministic = deterministic,
      .cuts = cut.empty() ? std::vector<int>{} : parallel::parse_cuts(layers, cut)};
}

parallel::LocalOptions RunOptions::local_options() const {
  return {.send_mode = parse_send_mode(send_mode),
          .order_seed = order_seed,
          .timeout_seconds = timeout,
          .message_delay_seconds = message_delay};
}

std::vector<std::shared_ptr<Context>> RunOptions::contexts() const {
  std::vector<std::shared_ptr<Context>> contexts;
  for (int rank = 0; rank < ranks(); ++rank) {
    contexts.push_back(std::make_shared<Context>(Device{parse_device_kind(device), rank}, threads));
  }
  return contexts;
}

std::shared_ptr<const Dataset> RunOptions::load_data() const {
  DataOptions options{.kind = parse_data_kind(data), .folder = {}, .colour = make_model(model, depth).colour};
  if (data_dir) options.folder = *data_dir;
  return load_dataset(options);
}

std::string RunOptions::cut_line() const {
  // "15 to 16" where the parts differ.
  const auto sizes = [](std::int64_t whole, std::int64_t parts) {
    const std::int64_t least = whole / parts, most = (whole + parts - 1) / parts;
    return least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
  };
  const auto plural = [](std::int64_t count) { return count == 1 ? "" : "s"; };
  const std::int64_t blocks = micro_batches.value_or(data_parallel);
  return fmt::format("batch {} = {} replica{} x {} micro-batch{} x {} images", batch_size, data_parallel,
                     plural(data_parallel), sizes(blocks, data_parallel), blocks > data_parallel ? "es" : "",
                     sizes(batch_size, blocks));
}

void RunOptions::describe(nlohmann::ordered_json& flags) const {
  flags["model"] = model;
  if (model == "vgg") flags["depth"] = depth;
  flags["strategy"] = strategy;
  flags["data_parallel"] = data_parallel;
  flags["stages"] = stages;
  flags["chunks"] = chunks;
  flags["batch_size"] = batch_size;
  flags["micro_batches"] = micro_batches ? nlohmann::ordered_json(*micro_batches) : nullptr;
  flags["schedule"] = schedule;
  flags["cut"] = cut;
  flags["data"] = data;
  flags["data_dir"] = data_dir ? nlohmann::ordered_json(*data_dir) : nullptr;
  flags["device"] = device;
  flags["backend"] = backend;
  flags["threads"] = threads;
  flags["seed"] = seed;
  flags["deterministic"] = deterministic;
  flags["send_mode"] = send_mode;
  flags["order_seed"] = order_seed;
  flags["timeout"] = timeout;
  flags["message_delay"] = message_delay;
}

}  // namespace warpline::tools
