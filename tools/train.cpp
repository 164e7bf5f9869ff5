// `warpline train`: trains a model, split in one of five ways, and says what the split cost and gained.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "tools/commands.h"
#include "tools/results.h"
#include "tools/train_options.h"
#include "tools/train_run.h"

namespace warpline::tools {
namespace {

constexpr const char* kFooter = R"(Examples:
  (the program is build/tools/warpline)
  warpline train                                        the network `net` on one rank
  warpline train --strategy data --data-parallel 4      four replicas, each a quarter of every batch
  warpline train --strategy pipeline --stages 2 --schedule 1f1b --trace run.json
  warpline train --steps 100 --deterministic --checkpoint a.safetensors
  warpline train --steps 200 --deterministic --resume a.safetensors --strategy layer

With --deterministic all strategies with equally many micro-batches end with the same bits: compare
parameters_sha256.)";

void train(TrainOptions options) {
  const std::shared_ptr<const Dataset> data = options.load_data();
  std::optional<Checkpoint> resume;
  if (!options.resume.empty()) {
    Context host({DeviceKind::Cpu, 0});
    resume = read_checkpoint(host, options.resume);
    if (!options.seed_given) options.seed = resume->position.seed;
  }
  fmt::print("{}\n", options.cut_line());
  fmt::print(
      "data: {}, {} training and {} test images{}\n", data->name, data->train.count(), data->test.count(),
      data->name == "builtin" && options.data == "auto" ? "; MNIST was not found, tools/get_mnist fetches it"
                                                        : "");
  if (resume) {
    fmt::print("resumed {} at step {}, epoch {}\n", options.resume, resume->position.step,
               resume->position.epoch + 1);
  }
  std::fflush(stdout);
  const TrainResults results = run_training(options, data, resume);
  const auto steps = static_cast<std::int64_t>(results.losses.size());

  fmt::print("\n{}", rank_table(results.ranks, steps));
  fmt::print("loss {:.6f}", results.losses.back());
  if (results.images_per_second) fmt::print(", {:.0f} images/s", *results.images_per_second);
  if (results.ranks.size() > 1) fmt::print(", {}", busy_line(results.ranks, results.seconds));
  fmt::print("\nparameters {}\n", results.parameters_sha256);

  if (!options.json.empty()) {
    const auto or_null = [](const std::optional<double>& value) {
      return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
    };
    write_json(options.json, {{"flags", options.in_force()},
                              {"cut", options.cut_line()},
                              {"data", data->name},
                              {"losses", results.losses},
                              {"test_accuracy", or_null(results.test_accuracy)},
                              {"images_per_second", or_null(results.images_per_second)},
                              {"parameters_sha256", results.parameters_sha256},
                              {"bound", parallel::speedup_bound(results.ranks)},
                              {"peak_rss_bytes", peak_rss_bytes()},
                              {"versions", versions()},
                              {"ranks", to_json(results.ranks)}});
  }
  if (!options.trace.empty()) parallel::write_trace(options.trace, results.trace);
}

}  // namespace

void add_train(Command program) {
  const Command command = program.add_command("train", "train a network on one rank, or split over several");
  const auto options = std::make_shared<TrainOptions>();
  options->add_flags(command);
  command.footer(kFooter);
  command.on_run([command, options] {
    options->resolve(command);
    train(*options);
  });
}

}  // namespace warpline::tools
