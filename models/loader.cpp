#include "models/loader.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/error.h"
#include "models/shuffle.h"

namespace warpline {
namespace {

struct Position {
  std::int64_t epoch = 0;
  std::int64_t step = 0;
  bool operator==(const Position&) const = default;
};

// A batch on the host. There are two, which change hands: one that the caller copies to its device while the
// thread fills the other.
struct HostBatch {
  parallel::Range range;
  std::vector<float> images;
  std::vector<std::int64_t> targets;
};

// By channel, (pixel / 255 - mean) / std for each byte, rounded at each step as PyTorch's transforms do.
using Normalisation = std::vector<std::array<float, 256>>;

Normalisation normalisation(const Dataset& dataset) {
  Normalisation tables(dataset.mean.size());
  for (std::size_t channel = 0; channel < tables.size(); ++channel) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      tables[channel][byte] =
          (static_cast<float>(byte) / 255.0F - dataset.mean[channel]) / dataset.std_dev[channel];
    }
  }
  return tables;
}

void append_image(const Normalisation& tables, std::span<const std::uint8_t> image, std::vector<float>& out) {
  const std::size_t plane = image.size() / tables.size();
  for (std::size_t channel = 0; channel < tables.size(); ++channel) {
    const std::array<float, 256>& table = tables[channel];
    for (const std::uint8_t pixel : image.subspan(channel * plane, plane)) out.push_back(table[pixel]);
  }
}

parallel::Batch to_device(Context& context, const Dataset& dataset, const HostBatch& host, std::int64_t count,
                          bool images, bool targets) {
  parallel::Batch batch;
  batch.count = count;
  if (images) {
    Shape shape = dataset.sample_shape;
    shape.insert(shape.begin(), host.range.size());
    batch.input = Tensor::from_host(context, host.images, shape);
  }
  if (targets) batch.target = Tensor::from_host(context, host.targets, {host.range.size()});
  return batch;
}

}  // namespace

parallel::Batch read_samples(Context& context, const Dataset& dataset, const Samples& samples,
                             parallel::Range range, bool images, bool targets) {
  if (range.begin < 0 || range.begin > range.end || range.end > samples.count()) {
    fail<ValueError>("loader", "a range must lie within the list: samples {} to {} of {}", range.begin,
                     range.end, samples.count());
  }
  const Normalisation tables = normalisation(dataset);
  HostBatch host{.range = range, .images = {}, .targets = {}};
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    if (images) append_image(tables, samples.image(i), host.images);
    if (targets) host.targets.push_back(samples.label(i));
  }
  return to_device(context, dataset, host, range.size(), images, targets);
}

class Loader::State {
 public:
  State(std::shared_ptr<const Dataset> dataset, const Samples& samples, LoaderOptions options)
      : dataset_(std::move(dataset)),
        samples_(samples),
        options_(std::move(options)),
        tables_(normalisation(*dataset_)) {
    thread_ = std::thread([this] { work(); });
  }
  ~State() {
    {
      const std::scoped_lock lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::int64_t steps() const { return (samples_.count() + options_.batch_size - 1) / options_.batch_size; }

  std::int64_t batch_count(std::int64_t step) const {
    return std::min(options_.batch_size, samples_.count() - step * options_.batch_size);
  }

  parallel::Batch get(Context& context, Position position) {
    take(position);
    return to_device(context, *dataset_, front_, batch_count(position.step), options_.images,
                     options_.targets);
  }

 private:
  // Leaves the batch in front_ and asks for the one behind it. The waits end because the thread only
  // computes.
  void take(Position position) {
    std::unique_lock lock(mutex_);
    if (asked_ != position) {
      changed_.wait(lock, [&] { return !busy_; });
      ask(position);
    }
    changed_.wait(lock, [&] { return !busy_; });
    asked_.reset();
    if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
    std::swap(front_, back_);
    ask(position.step + 1 < steps() ? Position{position.epoch, position.step + 1}
                                    : Position{position.epoch + 1, 0});
  }

  void ask(Position position) {  // under the lock, the thread idle
    asked_ = position;
    error_ = nullptr;
    busy_ = true;
    changed_.notify_all();
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return busy_ || stop_; });
      if (stop_) return;
      const Position position = *asked_;
      lock.unlock();
      std::exception_ptr error;
      try {
        prepare(position);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      error_ = error;
      busy_ = false;
      changed_.notify_all();
    }
  }

  void prepare(Position position) {
    const std::int64_t count = batch_count(position.step);
    const parallel::Range range = options_.share ? options_.share(count) : parallel::Range{0, count};
    if (range.begin < 0 || range.begin > range.end || range.end > count) {
      fail<ValueError>("loader", "a share must lie within its batch: samples {} to {} of {}", range.begin,
                       range.end, count);
    }
    if (options_.shuffle && order_epoch_ != position.epoch) {
      order_ = shuffled(options_.seed, position.epoch, samples_.count());
      order_epoch_ = position.epoch;
    }
    back_.range = range;
    back_.images.clear();
    back_.targets.clear();
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const std::int64_t place = position.step * options_.batch_size + i;
      const std::int64_t sample = options_.shuffle ? order_[static_cast<std::size_t>(place)] : place;
      if (options_.images) append_image(tables_, samples_.image(sample), back_.images);
      if (options_.targets) back_.targets.push_back(samples_.label(sample));
    }
  }

  const std::shared_ptr<const Dataset> dataset_;
  const Samples& samples_;
  const LoaderOptions options_;
  const Normalisation tables_;

  HostBatch front_;  // the caller's
  HostBatch back_;   // the thread's while busy_, else the caller's
  // The thread's own: the order of the epoch that it is in.
  std::vector<std::uint32_t> order_;
  std::int64_t order_epoch_ = -1;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Position> asked_;  // what back_ holds, or will
  bool busy_ = false;
  bool stop_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

Loader::Loader(std::shared_ptr<const Dataset> dataset, const Samples& samples, LoaderOptions options) {
  if (options.batch_size < 1) {
    fail<ValueError>("loader", "the batch size must be at least 1: {}", options.batch_size);
  }
  state_ = std::make_unique<State>(std::move(dataset), samples, std::move(options));
}
Loader::~Loader() = default;

std::int64_t Loader::steps() const { return state_->steps(); }
std::int64_t Loader::batch_count(std::int64_t step) const { return state_->batch_count(step); }

parallel::Batch Loader::get(Context& context, std::int64_t epoch, std::int64_t step) {
  if (epoch < 0 || step < 0 || step >= steps()) {
    fail<ValueError>("loader", "epochs count from 0, steps from 0 to {}: epoch {}, step {}", steps() - 1,
                     epoch, step);
  }
  return state_->get(context, {epoch, step});
}

}  // namespace warpline
