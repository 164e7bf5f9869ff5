// Learning rates as pure functions of the step (or epoch), which counts from 0: nothing to save, and every
// rank computes the same number. Closed forms of torch.optim.lr_scheduler.
#pragma once

#include <cstdint>

namespace warpline {

// StepLR: base_lr gamma^(step / step_size), rounded down. ValueError: a negative step, step_size < 1, a rate
// or gamma that is negative or not finite.
double step_lr(double base_lr, std::int64_t step, std::int64_t step_size, double gamma = 0.1);

// CosineAnnealingLR: from base_lr at step 0 to eta_min at t_max along half a cosine, and back up after it.
// ValueError: a negative step, t_max < 1, a rate that is negative or not finite.
double cosine_annealing_lr(double base_lr, std::int64_t step, std::int64_t t_max, double eta_min = 0.0);

}  // namespace warpline
