#include "kernels/tolerance.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/options.h"
#include "tests/support/random_values.h"
#include "tests/support/sizes.h"

using namespace warpline;
using namespace warpline::test;
using kernels::AdamStep;
using kernels::SgdStep;

namespace {

const Offers offers{true, true};

constexpr std::array<double, 3> kGradients{0.5, 0.5, -1.0};

// Three steps from a parameter of 1, one element.
template <class T>
std::vector<double> sgd_path(const Launch<SgdStep>& step, SgdArgs args) {
  std::vector<double> path;
  Guarded<T> parameter{1}, buffer{kNaNOf<T>};  // the first step does not read the buffer
  for (std::size_t i = 0; i < kGradients.size(); ++i) {
    const Guarded<T> gradient{static_cast<T>(kGradients[i])};
    args.first_step = i == 0;
    step(gradient.data(), parameter.data(), args.momentum == 0 ? nullptr : buffer.data(), args);
    path.push_back(parameter[0]);
  }
  return path;
}

template <class T>
std::vector<double> adam_path(const Launch<AdamStep>& step, AdamArgs args) {
  std::vector<double> path;
  Guarded<T> parameter{1}, exp_avg{0}, exp_avg_sq{0};
  for (const double slope : kGradients) {
    const Guarded<T> gradient{static_cast<T>(slope)};
    step(gradient.data(), parameter.data(), exp_avg.data(), exp_avg_sq.data(), args);
    path.push_back(parameter[0]);
    ++args.step;
  }
  return path;
}

SgdArgs sgd_args(std::int64_t count, double lr, double momentum, double dampening, double weight_decay,
                 bool nesterov) {
  return {count, lr, momentum, dampening, weight_decay, nesterov, false};
}

}  // namespace

// torch.optim.SGD, lr 0.1, gradients 0.5, 0.5, -1.
TEMPLATE_TEST_CASE("SGD walks PyTorch's path", "[sgd]", float, double) {
  struct Case {
    SgdArgs args;
    std::vector<double> path;
  };
  for (const Case& c : {
           Case{sgd_args(1, .1, 0, 0, 0, false), {0.95, 0.9, 1.0}},
           Case{sgd_args(1, .1, .9, 0, 0, false), {0.95, 0.855, 0.8695}},
           Case{sgd_args(1, .1, .9, .5, 0, false), {0.95, 0.88, 0.867}},
           Case{sgd_args(1, .1, .9, 0, 0, true), {0.905, 0.7695, 0.88255}},
           Case{sgd_args(1, .1, .9, 0, .1, false), {0.94, 0.8266, 0.816274}},
       }) {
    for_each_row<SgdStep>(dtype_of<TestType>, c.args, [&](const auto& step) {
      CHECK(first_difference(sgd_path<TestType>(step, c.args), c.path, sum_tolerance<TestType>(0, 1)) == "");
    });
  }
}

// torch.optim.Adam and AdamW, lr 0.1, gradients 0.5, 0.5, -1.
TEMPLATE_TEST_CASE("Adam and AdamW walk PyTorch's paths", "[adam]", float, double) {
  struct Case {
    AdamArgs args;
    std::vector<double> path;
  };
  for (const Case& c : {
           Case{{1, 1, .1}, {0.900000002, 0.8000000040000006, 0.8075649369687123}},
           Case{{1, 1, .1, .9, .999, 1e-8, .1}, {0.9000000016666666, 0.8000473404883315, 0.7950754433549126}},
           Case{{1, 1, .1, .9, .999, 1e-8, .01, true}, {0.899000002, 0.7981010039980005, 0.8048678359627143}},
           Case{{1, 1, .1, .5, .75, .5}, {0.95, 0.9, 0.9283933029333925}},
       }) {
    for_each_row<AdamStep>(dtype_of<TestType>, c.args, [&](const auto& step) {
      CHECK(first_difference(adam_path<TestType>(step, c.args), c.path, sum_tolerance<TestType>(0, 1)) == "");
    });
  }
}

TEMPLATE_TEST_CASE("a gradient of 0 changes nothing without decay", "[adam]", float, double) {
  const AdamArgs args{1, 1, .1};
  for_each_row<AdamStep>(dtype_of<TestType>, args, [&](const auto& step) {
    Guarded<TestType> parameter{3}, exp_avg{0}, exp_avg_sq{0};
    const Guarded<TestType> gradient{0};
    step(gradient.data(), parameter.data(), exp_avg.data(), exp_avg_sq.data(), args);
    CHECK(parameter[0] == 3);
  });
}

TEMPLATE_TEST_CASE("without decay an infinite parameter stays infinite, and its buffers finite",
                   "[sgd][adam]", float, double) {
  const Guarded<TestType> gradient{0.5F};
  const SgdArgs sgd = sgd_args(1, .1, .9, 0, 0, false);
  for_each_row<SgdStep>(dtype_of<TestType>, sgd, [&](const auto& step) {
    Guarded<TestType> parameter{kInfOf<TestType>}, buffer{1};
    step(gradient.data(), parameter.data(), buffer.data(), sgd);
    CHECK(parameter[0] == kInfOf<TestType>);
    CHECK(buffer[0] == Approx(1.4));
  });
  const AdamArgs adam{1, 1, .1};
  for_each_row<AdamStep>(dtype_of<TestType>, adam, [&](const auto& step) {
    Guarded<TestType> parameter{kInfOf<TestType>}, exp_avg{0}, exp_avg_sq{0};
    step(gradient.data(), parameter.data(), exp_avg.data(), exp_avg_sq.data(), adam);
    CHECK(parameter[0] == kInfOf<TestType>);
    CHECK(exp_avg[0] == Approx(0.05));
  });
}

TEMPLATE_TEST_CASE("every row of sgd_step equals ref", "[sgd]", float, double) {
  Sweep<SgdStep, TestType> sweep;
  for (const std::int64_t count : kSweepSizes) {
    INFO(count << " elements");
    const auto gradient = random_values<TestType>(count, Data::Reals, 1);
    const auto parameter = random_values<TestType>(count, Data::Reals, 2);
    const auto buffer = random_values<TestType>(count, Data::Reals, 3);
    for (SgdArgs args : {sgd_args(count, .01, 0, 0, 0, false), sgd_args(count, .1, 0, 0, .01, false),
                         sgd_args(count, .1, .9, .3, .01, false), sgd_args(count, .1, .9, 0, .01, true)}) {
      for (const bool first_step : {false, true}) {
        args.first_step = first_step;
        sweep.check(args, sum_tolerance<TestType>(2, 1), [&](const auto& launch) {
          auto new_parameter = parameter, new_buffer = buffer;
          launch(gradient.data(), new_parameter.data(), args.momentum == 0 ? nullptr : new_buffer.data(),
                 args);
          return outputs(new_parameter, new_buffer);
        });
      }
    }
  }
  sweep.report();
}

TEMPLATE_TEST_CASE("every row of adam_step equals ref", "[adam]", float, double) {
  Sweep<AdamStep, TestType> sweep;
  for (const std::int64_t count : kSweepSizes) {
    INFO(count << " elements");
    const auto gradient = random_values<TestType>(count, Data::Reals, 1);
    const auto parameter = random_values<TestType>(count, Data::Reals, 2);
    const auto exp_avg = random_values<TestType>(count, Data::Reals, 3);
    auto exp_avg_sq = random_values<TestType>(count, Data::Reals, 4);
    // Away from 0, where the step divides by its root.
    for (TestType& value : exp_avg_sq) value = value * value + TestType{0.5};
    for (const AdamArgs& args : {AdamArgs{count, 1}, AdamArgs{count, 7, .1, .8, .95, 1e-6, .01},
                                 AdamArgs{count, 100'000, .1, .9, .999, 1e-8, .01, true}}) {
      sweep.check(args, sum_tolerance<TestType>(2, 1), [&](const auto& launch) {
        auto p = parameter, first = exp_avg, second = exp_avg_sq;
        launch(gradient.data(), p.data(), first.data(), second.data(), args);
        return outputs(p, first, second);
      });
    }
  }
  sweep.report();
}
