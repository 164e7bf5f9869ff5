#include "engine/optim/lr_schedule.h"

#include <cmath>
#include <numbers>
#include <string_view>

#include "engine/optim/optimizer.h"
#include "kernels/error.h"

namespace warpline {
namespace {

void check_steps(std::string_view tag, std::int64_t step, std::string_view period, std::int64_t length) {
  if (step < 0) fail<ValueError>(tag, "step must not be negative: it is {}", step);
  if (length < 1) fail<ValueError>(tag, "{} must be at least 1: it is {}", period, length);
}

}  // namespace

double step_lr(double base_lr, std::int64_t step, std::int64_t step_size, double gamma) {
  check_rate("step_lr", "base_lr", base_lr);
  check_rate("step_lr", "gamma", gamma);
  check_steps("step_lr", step, "step_size", step_size);
  const std::int64_t decays = step / step_size;
  return base_lr * std::pow(gamma, static_cast<double>(decays));
}

double cosine_annealing_lr(double base_lr, std::int64_t step, std::int64_t t_max, double eta_min) {
  check_rate("cosine_annealing_lr", "base_lr", base_lr);
  check_rate("cosine_annealing_lr", "eta_min", eta_min);
  check_steps("cosine_annealing_lr", step, "t_max", t_max);
  const double turn = std::numbers::pi * static_cast<double>(step) / static_cast<double>(t_max);
  return eta_min + (base_lr - eta_min) * (1.0 + std::cos(turn)) / 2.0;
}

}  // namespace warpline
