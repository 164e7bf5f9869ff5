// `warpline infer`: streams batches through a model, split as in training, with several in flight; or shows
// what it makes of one test image.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "engine/random.h"
#include "kernels/error.h"
#include "models/loader.h"
#include "models/model.h"
#include "parallel/local.h"
#include "tools/checkpoint.h"
#include "tools/commands.h"
#include "tools/output_paths.h"
#include "tools/progress.h"
#include "tools/require.h"
#include "tools/results.h"
#include "tools/run_options.h"
#include "tools/sha256.h"

namespace warpline::tools {
namespace {

constexpr std::int64_t kMostBatches = 1 << 20;  // as many as a plan of one rank takes

struct InferOptions : RunOptions {
  std::string checkpoint;
  bool random = false;
  std::int64_t batches = 1000;
  std::optional<std::int64_t> index;

  nlohmann::ordered_json in_force() const {
    nlohmann::ordered_json flags;
    describe(flags);
    flags["checkpoint"] = checkpoint;
    flags["random"] = random;
    flags["batches"] = batches;
    return flags;
  }
};

struct InferResults {
  std::vector<float> outputs;  // of the last batch
  std::string sha256;          // of all outputs, in order
  double seconds = 0;
  std::vector<parallel::RankReport> ranks;
  std::vector<parallel::TraceEvent> trace;
};

using Inputs = std::function<Tensor(Context& context, std::int64_t batch)>;

InferResults run_inference(const InferOptions& options, const std::optional<Checkpoint>& checkpoint,
                           const std::vector<std::int64_t>& sizes, const Inputs& inputs) {
  const std::vector<std::shared_ptr<Context>> contexts = options.contexts();
  InferResults results;
  parallel::run_local(
      contexts, options.local_options(), [&](int rank, const std::shared_ptr<parallel::Communicator>& world) {
        Context& context = *contexts[static_cast<std::size_t>(rank)];
        const Model model = make_model(options.model, options.depth);
        parallel::Worker worker(context, model.layers, model.sample_shape, model.loss,
                                options.layout(model.layers), world,
                                {.seed = options.seed, .trace = !options.trace.empty()});
        if (checkpoint) worker.load_state(checkpoint->state);
        Sha256 digest;
        std::optional<Progress> progress;
        if (rank == 0 && sizes.size() > 1) {
          progress.emplace("infer", static_cast<std::int64_t>(sizes.size()), sizes.front(), "images");
        }
        const double seconds = worker.infer(
            sizes, [&](std::int64_t batch) { return inputs(context, batch); },
            [&](std::int64_t batch, const Tensor& output) {
              results.outputs = output.to_host<float>();
              digest.add(std::as_bytes(std::span<const float>(results.outputs)));
              if (progress) progress->update(batch + 1, "");
            });
        std::vector<parallel::RankReport> ranks = worker.gather_reports();
        std::vector<parallel::TraceEvent> trace;
        if (!options.trace.empty()) trace = worker.gather_trace();
        if (rank != 0) return;
        results.seconds = seconds;
        results.sha256 = digest.hex();
        results.ranks = std::move(ranks);
        results.trace = std::move(trace);
      });
  return results;
}

void infer_random(const InferOptions& options, const std::optional<Checkpoint>& checkpoint) {
  const Shape sample = make_model(options.model, options.depth).sample_shape;
  const std::vector<std::int64_t> sizes(static_cast<std::size_t>(options.batches), options.batch_size);
  const InferResults results =
      run_inference(options, checkpoint, sizes, [&](Context& context, std::int64_t batch) {
        Shape shape = sample;
        shape.insert(shape.begin(), options.batch_size);
        Tensor input = Tensor::empty(context, shape);
        fill_uniform(context, input, options.seed, fmt::format("batch {}", batch), 1.0);
        return input;
      });
  const double rate = static_cast<double>(options.batches * options.batch_size) / results.seconds;
  fmt::print("{}", rank_table(results.ranks, options.batches));
  fmt::print("{} batches of {}: {:.0f} images/s\n", options.batches, options.batch_size, rate);
  if (results.ranks.size() > 1) fmt::print("{}\n", busy_line(results.ranks, results.seconds));
  fmt::print("outputs {}\n", results.sha256);
  if (!options.json.empty()) {
    write_json(options.json, {{"flags", options.in_force()},
                              {"batches", options.batches},
                              {"images_per_second", rate},
                              {"output_sha256", results.sha256},
                              {"bound", parallel::speedup_bound(results.ranks)},
                              {"peak_rss_bytes", peak_rss_bytes()},
                              {"versions", versions()},
                              {"ranks", to_json(results.ranks)}});
  }
  if (!options.trace.empty()) parallel::write_trace(options.trace, results.trace);
}

// Two rows of pixels a line of text, from dark to light.
std::string drawing(const Samples& samples, std::int64_t index, const Shape& shape) {
  constexpr std::string_view kShades = " .:-=+*#%@";
  const std::span<const std::uint8_t> image = samples.image(index);
  const std::int64_t channels = shape[0], height = shape[1], width = shape[2];
  std::string text;
  for (std::int64_t y = 0; y < height; y += 2) {
    for (std::int64_t x = 0; x < width; ++x) {
      std::int64_t sum = 0, cells = 0;
      for (std::int64_t c = 0; c < channels; ++c) {
        for (std::int64_t row = y; row < std::min(y + 2, height); ++row, ++cells) {
          sum += image[static_cast<std::size_t>((c * height + row) * width + x)];
        }
      }
      text += kShades[static_cast<std::size_t>(sum * 9 / (cells * 255))];
    }
    text += '\n';
  }
  return text;
}

void infer_one(const InferOptions& options, const std::optional<Checkpoint>& checkpoint) {
  const std::shared_ptr<const Dataset> data = options.load_data();
  const std::int64_t index = *options.index;
  if (index < 0 || index >= data->test.count()) {
    fail<ValueError>("--index", "the test images are 0 to {}; got {}", data->test.count() - 1, index);
  }
  const InferResults results = run_inference(options, checkpoint, {1}, [&](Context& context, std::int64_t) {
    return read_samples(context, *data, data->test, {index, index + 1}, true, false).input;
  });
  // Log-probabilities and logits alike: softmax leaves the former as they are.
  const float largest = *std::max_element(results.outputs.begin(), results.outputs.end());
  std::vector<double> probability;
  double sum = 0;
  for (const float output : results.outputs) {
    probability.push_back(std::exp(static_cast<double>(output) - static_cast<double>(largest)));
    sum += probability.back();
  }
  fmt::print("{}\ntest image {} ({}), a {}\n", drawing(data->test, index, data->sample_shape), index,
             data->name, data->test.label(index));
  for (std::size_t digit = 0; digit < probability.size(); ++digit) {
    const double share = probability[digit] / sum;
    fmt::print(
        "{} {:>6.2f} % {}\n", digit, std::abs(100 * share),
        std::string(std::isfinite(share) ? static_cast<std::size_t>(std::lround(40 * share)) : 0, '#'));
  }
}

void check(const InferOptions& options, Command command) {
  if (options.random == options.index.has_value()) {
    fail<ValueError>(
        "infer",
        "say what to run on: --random for a stream of random batches, or --index I for one test image");
  }
  if (options.index) {
    for (const char* flag : {"--batches", "--batch-size", "--json", "--trace"}) {
      if (command.given(flag)) fail<ValueError>(flag, "goes with --random, not with --index");
    }
  } else {
    for (const char* flag : {"--data", "--data-dir"}) {
      if (command.given(flag)) fail<ValueError>(flag, "goes with --index, not with --random");
    }
    require_at_least_one("--batches", options.batches);
    require_at_most("--batches", options.batches, kMostBatches);
  }
  check_output_paths({{"--json", options.json}, {"--trace", options.trace}},
                     {{"--checkpoint", options.checkpoint}});
}

}  // namespace

void add_infer(Command program) {
  const Command command =
      program.add_command("infer", "run a network forward: a stream of batches, or one test image");
  const auto options = std::make_shared<InferOptions>();
  options->batch_size = 32;
  options->add_flags(command);
  command.add_option("--batch-size", options->batch_size, "images of one batch, which one replica takes");
  command.add_option("--seed", options->seed, "of weights and random batches");
  command.add_option("--checkpoint", options->checkpoint,
                     "weights to use; omitted: those that --seed starts with");
  command.add_flag("--random", options->random, "random batches");
  command.add_option("--batches", options->batches, "how many random batches");
  command.add_option("--index", options->index, "one test image, drawn, with its probabilities");
  command.on_run([command, options] {
    options->resolve(command);
    check(*options, command);
    std::optional<Checkpoint> checkpoint;
    if (!options->checkpoint.empty()) {
      Context host({DeviceKind::Cpu, 0});
      checkpoint = read_checkpoint(host, options->checkpoint);
      if (checkpoint->position.model != options->model) {
        fail<ValueError>("--checkpoint", "{} holds a {}; got --model {}", options->checkpoint,
                         checkpoint->position.model, options->model);
      }
    }
    options->index ? infer_one(*options, checkpoint) : infer_random(*options, checkpoint);
  });
}

}  // namespace warpline::tools
