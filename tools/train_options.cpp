#include "tools/train_options.h"

#include <cmath>
#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "engine/file.h"
#include "engine/optim/adam.h"
#include "engine/optim/sgd.h"
#include "kernels/error.h"

namespace warpline::tools {
namespace {

void require_not_negative(const char* flag, double value) {
  if (!std::isfinite(value) || value < 0)
    fail<ValueError>(flag, "must be a number of at least 0; got {}", value);
}

}  // namespace

void TrainOptions::add_flags(CLI::App& command) {
  RunOptions::add_flags(command);
  command.add_option("--epochs", epochs, "passes over the training set, counted from the very start");
  command.add_option("--steps", steps, "stop after this many optimiser steps, counted from the very start")
      ->default_str("all");
  command.add_flag("--evaluate", evaluate, "measure the test accuracy at the end even with --steps");
  command.add_option("--optimizer", optimizer, "sgd, adam or adamw");
  command.add_option("--lr", lr, "learning rate");
  command.add_option("--momentum", momentum, "of sgd");
  command.add_option("--weight-decay", weight_decay, "L2 (sgd, adam) or decoupled (adamw)");
  command.add_option("--checkpoint", checkpoint,
                     "write parameters and optimiser state here, after each epoch");
  command.add_option("--resume", resume, "continue from a checkpoint, whatever strategy wrote it");
}

void TrainOptions::resolve(const CLI::App& command) {
  RunOptions::resolve(command, false);
  seed_given = command.count("--seed") > 0;
  epochs_given = command.count("--epochs") > 0;
  if (epochs < 1) fail<ValueError>("--epochs", "must be at least 1; got {}", epochs);
  if (steps && *steps < 1) fail<ValueError>("--steps", "must be at least 1; got {}", *steps);
  if (optimizer != "sgd" && optimizer != "adam" && optimizer != "adamw") {
    fail<ValueError>("--optimizer", "no optimiser is called '{}'; there are sgd, adam and adamw", optimizer);
  }
  if (optimizer != "sgd" && command.count("--momentum") > 0) {
    fail<ValueError>("--momentum", "--optimizer {} does not use it; leave it out", optimizer);
  }
  require_not_negative("--lr", lr);
  require_not_negative("--momentum", momentum);
  require_not_negative("--weight-decay", weight_decay);
  for (const std::string* path : {&json, &trace, &checkpoint}) {
    if (!path->empty()) check_writable(*path);
  }
}

std::unique_ptr<Optimizer> TrainOptions::make_optimizer(std::vector<Parameter*> parameters) const {
  if (optimizer == "sgd") {
    return std::make_unique<Sgd>(std::move(parameters),
                                 SgdOptions{.lr = lr, .momentum = momentum, .weight_decay = weight_decay});
  }
  return std::make_unique<Adam>(
      std::move(parameters),
      AdamOptions{.lr = lr, .weight_decay = weight_decay, .decoupled = optimizer == "adamw"});
}

nlohmann::ordered_json TrainOptions::in_force() const {
  nlohmann::ordered_json flags;
  describe(flags);
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
