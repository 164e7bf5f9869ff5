// A training run: the same program on every rank.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/dataset.h"
#include "parallel/report.h"
#include "parallel/trace.h"
#include "tools/checkpoint.h"
#include "tools/train_options.h"

namespace warpline::tools {

struct TrainResults {
  std::vector<double> losses;  // one an optimiser step: the mean over the global batch
  std::optional<double> test_accuracy;
  std::optional<double> images_per_second;  // training only, the first step left out; none for one step
  double seconds = 0;  // of training, as images_per_second counts them, first step included
  std::string parameters_sha256;
  std::vector<parallel::RankReport> ranks;
  std::vector<parallel::TraceEvent> trace;
};

// Runs on one thread a rank; the results are rank 0's. Prints the run's story as it goes.
TrainResults run_training(const TrainOptions& options, const std::shared_ptr<const Dataset>& data,
                          const std::optional<Checkpoint>& resume);

}  // namespace warpline::tools
