// Cuts a list of samples into global batches and gives a rank its share of each as tensors, prepared ahead by
// a thread of its own. Which samples a batch holds follows from (seed, epoch, step) alone, so ranks agree
// without a message and a resumed run goes on with the next sample.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "engine/context.h"
#include "engine/tensor.h"
#include "models/dataset.h"
#include "parallel/blocks.h"
#include "parallel/worker.h"

namespace warpline {

struct LoaderOptions {
  std::int64_t batch_size = 64;  // images of a global batch; the last one of an epoch may be short
  bool shuffle = true;           // off: in order, the same in every epoch, as a test set is read
  std::uint64_t seed = 1;
  // What this rank takes of a global batch of `count` samples, by position: Worker::samples. Empty: all of
  // it. Called on the loader's thread.
  std::function<parallel::Range(std::int64_t count)> share{};
  bool images = true;   // off: the rank needs none, as a last stage
  bool targets = true;  // off: the rank needs none, as a first stage
};

// Samples `range` of a list, in order: of a test set. Throws ValueError for a range outside the list.
// Batches, here and below: input is float32 [range, channels, height, width], normalised, target int64
// [range]; either is undefined where it is not asked for. count is the global batch's, the divisor of its
// loss; here, the range's.
parallel::Batch read_samples(Context& context, const Dataset& dataset, const Samples& samples,
                             parallel::Range range, bool images, bool targets);

class Loader {
 public:
  // `samples` is dataset->train or dataset->test. Throws ValueError for a batch size below 1.
  Loader(std::shared_ptr<const Dataset> dataset, const Samples& samples, LoaderOptions options);
  ~Loader();  // in any state, at once
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  std::int64_t steps() const;                         // batches an epoch
  std::int64_t batch_count(std::int64_t step) const;  // samples of the global batch `step`

  // Any batch in any order; reading on from the one before is what has been prepared. Throws ValueError for
  // an epoch or step outside, or a share outside the batch; what went wrong in preparing it is thrown here.
  // One thread at a time.
  parallel::Batch get(Context& context, std::int64_t epoch, std::int64_t step);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace warpline
