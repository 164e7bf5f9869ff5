#include "tools/train_run.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "kernels/error.h"
#include "models/loader.h"
#include "models/model.h"
#include "parallel/local.h"
#include "tools/progress.h"

namespace warpline::tools {
namespace {

// Losses travel to rank 0 this often, outside the steps, for the progress line.
constexpr std::int64_t kReportEvery = 20;
constexpr std::int64_t kTestBatch = 250;

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

bool finished(const TrainOptions& options, const Position& position) {
  if (options.steps && position.step >= *options.steps) return true;
  return (!options.steps || options.epochs_given) && position.epoch >= options.epochs;
}

// One rank's run. Every method is collective.
class Rank {
 public:
  Rank(const TrainOptions& options, const std::shared_ptr<const Dataset>& data,
       const std::shared_ptr<Context>& context, const std::shared_ptr<parallel::Communicator>& world)
      : options_(options),
        data_(data),
        context_(*context),
        model_(make_model(options.model, options.depth)),
        worker_(context_, model_.layers, model_.sample_shape, model_.loss, options.layout(model_.layers),
                world, {.seed = options.seed, .trace = !options.trace.empty()}),
        optimizer_(options.make_optimizer(worker_.parameters())),
        loader_(data, data->train,
                {.batch_size = options.batch_size,
                 .shuffle = true,
                 .seed = options.seed,
                 .share = [this](std::int64_t count) { return worker_.samples(count); },
                 .images = worker_.needs_input(),
                 .targets = worker_.needs_target()}) {
    position_.model = options.model;
    position_.optimizer = options.optimizer;
    position_.seed = options.seed;
  }

  void resume(const Checkpoint& checkpoint) {
    worker_.load_state(checkpoint.state, optimizer_.get());
    position_ = checkpoint.position;
  }

  TrainResults run() {
    while (!finished(options_, position_)) {
      train_epoch();
      const bool at_end = finished(options_, position_);
      const bool whole_epoch = position_.samples == 0;
      if ((whole_epoch && !options_.steps) || (options_.evaluate && at_end)) evaluate();
      save(at_end);
    }
    if (images_after_first_ > 0) {
      results_.images_per_second = static_cast<double>(images_after_first_) / seconds_after_first_;
    }
    results_.ranks = worker_.gather_reports();
    if (!options_.trace.empty()) results_.trace = worker_.gather_trace();
    return std::move(results_);
  }

 private:
  bool first_rank() const { return worker_.rank() == 0; }

  // To the end of the epoch, or of the run.
  void train_epoch() {
    const std::int64_t begin = position_.samples / options_.batch_size;
    std::int64_t end = loader_.steps();
    if (options_.steps) end = std::min(end, begin + *options_.steps - position_.step);
    std::optional<Progress> progress;
    if (first_rank()) {
      progress.emplace(fmt::format("epoch {}", position_.epoch + 1), end - begin, options_.batch_size,
                       "images");
    }
    Stopwatch whole;
    std::optional<Stopwatch> after_first;
    for (std::int64_t step = begin; step < end; ++step) {
      context_.random.step = position_.step;
      const parallel::Batch batch = loader_.get(context_, position_.epoch, step);
      worker_.train_step(batch, *optimizer_);
      ++position_.step;
      position_.samples += batch.count;
      const bool first = !std::exchange(seen_first_, true);
      if (!first) images_after_first_ += batch.count;
      const std::int64_t done = step + 1 - begin;
      if (first || done % kReportEvery == 0 || step + 1 == end) report(progress, done);
      if (first) after_first.emplace();
    }
    results_.seconds += whole.seconds();
    seconds_after_first_ += after_first ? after_first->seconds() : whole.seconds();
    if (end == loader_.steps()) {
      position_.samples = 0;
      ++position_.epoch;
    }
  }

  void report(std::optional<Progress>& progress, std::int64_t done) {
    const std::vector<double> losses = worker_.gather_losses();
    results_.losses.insert(results_.losses.end(), losses.begin(), losses.end());
    if (progress) progress->update(done, fmt::format("loss {:.4f}", results_.losses.back()));
  }

  void evaluate() {
    const std::int64_t samples = data_->test.count();
    const std::int64_t right =
        worker_.evaluate(samples, kTestBatch, [&](std::int64_t begin, std::int64_t end) {
          return read_samples(context_, *data_, data_->test, {begin, end}, worker_.needs_input(),
                              worker_.needs_target());
        });
    results_.test_accuracy = static_cast<double>(right) / static_cast<double>(samples);
    if (first_rank()) {
      const std::string where = position_.samples == 0 ? fmt::format("epoch {}", position_.epoch)
                                                       : fmt::format("step {}", position_.step);
      fmt::print("{}: loss of the last batch {:.4f}, {:.2f} % of {} test images right\n", where,
                 results_.losses.back(), 100 * *results_.test_accuracy, samples);
    }
  }

  void save(bool at_end) {
    if (options_.checkpoint.empty() && !at_end) return;
    const parallel::State state = worker_.gather_state(optimizer_.get());
    if (!first_rank()) return;
    if (!options_.checkpoint.empty()) write_checkpoint(options_.checkpoint, {position_, state});
    if (at_end) results_.parameters_sha256 = parameters_sha256(state);
  }

  const TrainOptions& options_;
  std::shared_ptr<const Dataset> data_;
  Context& context_;
  Model model_;
  parallel::Worker worker_;
  std::unique_ptr<Optimizer> optimizer_;
  Loader loader_;
  Position position_;
  TrainResults results_;
  bool seen_first_ = false;  // the first step of this run warms up caches and is left out of the rate
  std::int64_t images_after_first_ = 0;
  double seconds_after_first_ = 0;
};

// Nothing missing, nothing unknown: what starts anew, or is passed over, would end with other bits.
void check_names(const TrainOptions& options, const parallel::State& state) {
  Model model = make_model(options.model, options.depth);
  const std::vector<std::string> buffers = options.make_optimizer({})->state_names();
  std::set<std::string> expected;
  for (const Parameter* parameter : model.layers.parameters()) {
    expected.insert(parameter->name);
    for (const std::string& buffer : buffers) {
      expected.insert(fmt::format("{}{}.{}", parallel::kOptimizerPrefix, parameter->name, buffer));
    }
  }
  for (const std::string& name : expected) {
    if (!state.contains(name)) fail<FileError>("--resume", "{} has no tensor '{}'", options.resume, name);
  }
  for (const auto& [name, tensor] : state) {
    if (!expected.contains(name)) {
      fail<FileError>("--resume", "{} holds '{}', which a {} trained by {} with momentum {} does not have",
                      options.resume, name, options.model, options.optimizer, options.momentum);
    }
  }
}

void check_resume(const TrainOptions& options, const Position& position, std::int64_t images) {
  if (position.model != options.model) {
    fail<ValueError>("--resume", "{} holds a {}; got --model {}", options.resume, position.model,
                     options.model);
  }
  if (position.optimizer != options.optimizer) {
    fail<ValueError>("--resume", "{} holds the state of {}; got --optimizer {}", options.resume,
                     position.optimizer, options.optimizer);
  }
  if (position.seed != options.seed) {
    fail<ValueError>("--resume", "{} was shuffled by seed {}; got --seed {}: leave it out to continue",
                     options.resume, position.seed, options.seed);
  }
  if (position.samples % options.batch_size != 0 || position.samples >= images) {
    fail<ValueError>("--resume",
                     "{} stands at sample {} of its epoch: that must be a multiple of --batch-size {} below "
                     "the {} images",
                     options.resume, position.samples, options.batch_size, images);
  }
  if (finished(options, position)) {
    fail<ValueError>("--resume",
                     "{} stands at step {}, epoch {}: nothing is left to do; --steps and --epochs count "
                     "from the very start",
                     options.resume, position.step, position.epoch);
  }
}

}  // namespace

TrainResults run_training(const TrainOptions& options, const std::shared_ptr<const Dataset>& data,
                          const std::optional<Checkpoint>& resume) {
  if (resume) {
    check_resume(options, resume->position, data->train.count());
    check_names(options, resume->state);
  }
  const std::vector<std::shared_ptr<Context>> contexts = options.contexts();
  TrainResults results;
  parallel::run_local(contexts, options.local_options(),
                      [&](int index, const std::shared_ptr<parallel::Communicator>& world) {
                        Rank rank(options, data, contexts[static_cast<std::size_t>(index)], world);
                        if (resume) rank.resume(*resume);
                        TrainResults mine = rank.run();
                        if (index == 0) results = std::move(mine);
                      });
  return results;
}

}  // namespace warpline::tools
