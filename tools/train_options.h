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
  int epochs = 1;
  std::optional<std::int64_t> steps;
  bool evaluate = false;
  std::string optimizer = "sgd";
  double lr = 0.01, momentum = 0.9, weight_decay = 0.0;
  std::string checkpoint, resume;

  void add_flags(CLI::App& command);
  void resolve(const CLI::App& command);
  std::unique_ptr<Optimizer> make_optimizer(std::vector<Parameter*> parameters) const;
  nlohmann::ordered_json in_force() const;

  bool seed_given = false, epochs_given = false;
};

}  // namespace warpline::tools
