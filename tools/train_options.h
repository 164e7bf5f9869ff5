// The flags of `train`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/nn/module.h"
#include "engine/optim/optimizer.h"
#include "tools/run_options.h"

namespace warpline::tools {

struct TrainOptions : RunOptions {
  int chunks = 1;
  int micro_batches = 0;  // 0 until resolve() chooses
  std::string schedule;
  bool deterministic = false;
  int epochs = 1;
  std::optional<std::int64_t> steps;
  bool evaluate = false;
  std::string optimizer = "sgd";
  double lr = 0.01, momentum = 0.9, weight_decay = 0.0;
  std::string checkpoint, resume;

  void add_flags(Command command);
  void resolve(Command command);
  parallel::Layout layout(const Sequential& layers) const;
  std::string cut_line() const;  // "batch 64 = 2 replicas x 2 micro-batches x 16 images"
  std::unique_ptr<Optimizer> make_optimizer(const std::vector<Parameter*>& parameters) const;
  nlohmann::ordered_json in_force() const;

  bool seed_given = false, epochs_given = false;

 private:
  void resolve_schedule(Command command);
};

}  // namespace warpline::tools
