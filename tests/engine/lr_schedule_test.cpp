#include "engine/optim/lr_schedule.h"

#include <limits>

#include <catch2/catch.hpp>

#include "kernels/error.h"
#include "tests/support/errors.h"
#include "tests/support/values.h"

using namespace warpline;
using namespace warpline::test;

// Numbers of PyTorch 1.13, whose recursion rounds otherwise: a few float64 epsilons.
TEST_CASE("step and cosine learning rates are PyTorch's", "[lr_schedule]") {
  std::vector<double> steps, cosine;
  for (int step = 0; step < 8; ++step) steps.push_back(step_lr(.5, step, 3, .5));
  for (int step = 0; step < 10; ++step) cosine.push_back(cosine_annealing_lr(.5, step, 4, .1));
  CHECK(difference(steps, {0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125, 0.125}) == "");
  CHECK(
      difference(cosine,
                 {0.5, 0.4414213562373095, 0.30000000000000004, 0.15857864376269054, 0.1, 0.15857864376269049,
                  0.30000000000000004, 0.4414213562373096, 0.5000000000000001, 0.4414213562373096},
                 1e-15) == "");
  CHECK(step_lr(1, 9, 10) == 1);
  CHECK(step_lr(1, 10, 10) == 0.1);
}

TEST_CASE("learning rates that make no sense are refused with the numbers", "[lr_schedule][errors]") {
  CHECK(error_of<ValueError>([] { step_lr(.1, -1, 3); }) == "[step_lr] step must not be negative: it is -1");
  CHECK(error_of<ValueError>([] { step_lr(.1, 1, 0); }) == "[step_lr] step_size must be at least 1: it is 0");
  CHECK(error_of<ValueError>([] { step_lr(-.1, 1, 3); }) ==
        "[step_lr] base_lr must be finite and not negative: it is -0.1");
  CHECK(error_of<ValueError>([] { cosine_annealing_lr(.1, 1, 0); }) ==
        "[cosine_annealing_lr] t_max must be at least 1: it is 0");
  CHECK(error_of<ValueError>([] {
          cosine_annealing_lr(.1, 1, 3, std::numeric_limits<double>::infinity());
        }) == "[cosine_annealing_lr] eta_min must be finite and not negative: it is inf");
}
