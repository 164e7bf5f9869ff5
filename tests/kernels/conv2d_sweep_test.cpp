// Every row of the four convolution kernels against `ref`.
#include "kernels/tolerance.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/options.h"
#include "tests/support/random_values.h"
#include "tests/support/window_shapes.h"

using namespace warpline;
using namespace warpline::test;

namespace {

const Offers offers{true, true};

template <class T>
struct Inputs {
  Guarded<T> x, weight, bias, dy;
};

template <class T>
Inputs<T> inputs(const Conv2dArgs& args, Data data) {
  return {random_values<T>(x_size(args), data, 1), random_values<T>(weight_size(args), data, 2),
          random_values<T>(args.filters, data, 3), random_values<T>(y_size(args), data, 4)};
}

// Calls body(args, inputs, tolerance) for each shape, with whole and with real numbers; a result sums
// `terms(args)` products.
template <class T, class Terms, class Body>
void for_each_case(Terms terms, Body body) {
  for (const Conv2dArgs& args : conv2d_sweep()) {
    for (const Data data : {Data::Integers, Data::Reals}) {
      INFO(describe(args) << (data == Data::Integers ? ", whole" : ", real"));
      body(args, inputs<T>(args, data), data == Data::Integers ? 0 : sum_tolerance<T>(terms(args), 1));
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("every row of conv2d_forward equals ref", "[conv2d]", float, double, std::uint32_t) {
  Sweep<kernels::Conv2dForward, TestType> sweep;
  const auto terms = [](const Conv2dArgs& a) { return a.channels / a.groups * a.kernel_h * a.kernel_w + 1; };
  for_each_case<TestType>(terms, [&](const Conv2dArgs& args, const auto& in, double tolerance) {
    for (const bool with_bias : {false, true}) {
      sweep.check(args, tolerance, [&](const auto& launch) {
        auto y = unwritten<TestType>(y_size(args));
        launch(in.x.data(), in.weight.data(), with_bias ? in.bias.data() : nullptr, y.data(), args);
        return outputs(y);
      });
    }
  });
  sweep.report();
}

TEMPLATE_TEST_CASE("every row of conv2d_backward_input equals ref", "[conv2d]", float, double,
                   std::uint32_t) {
  Sweep<kernels::Conv2dBackwardInput, TestType> sweep;
  const auto terms = [](const Conv2dArgs& a) { return a.filters / a.groups * a.kernel_h * a.kernel_w; };
  for_each_case<TestType>(terms, [&](const Conv2dArgs& args, const auto& in, double tolerance) {
    sweep.check(args, tolerance, [&](const auto& launch) {
      auto dx = unwritten<TestType>(x_size(args));
      launch(in.dy.data(), in.weight.data(), dx.data(), args);
      return outputs(dx);
    });
  });
  sweep.report();
}

TEMPLATE_TEST_CASE("every row of conv2d_backward_weight equals ref", "[conv2d]", float, double,
                   std::uint32_t) {
  Sweep<kernels::Conv2dBackwardWeight, TestType> sweep;
  const auto terms = [](const Conv2dArgs& a) { return a.batch * a.out_h * a.out_w; };
  for_each_case<TestType>(terms, [&](const Conv2dArgs& args, const auto& in, double tolerance) {
    sweep.check(args, tolerance, [&](const auto& launch) {
      auto dweight = unwritten<TestType>(weight_size(args));
      launch(in.dy.data(), in.x.data(), dweight.data(), args);
      return outputs(dweight);
    });
  });
  sweep.report();
}

TEMPLATE_TEST_CASE("every row of conv2d_backward_bias equals ref", "[conv2d]", float, double, std::uint32_t) {
  Sweep<kernels::Conv2dBackwardBias, TestType> sweep;
  const auto terms = [](const Conv2dArgs& a) { return a.batch * a.out_h * a.out_w; };
  for_each_case<TestType>(terms, [&](const Conv2dArgs& args, const auto& in, double tolerance) {
    sweep.check(args, tolerance, [&](const auto& launch) {
      auto dbias = unwritten<TestType>(args.filters);
      launch(in.dy.data(), dbias.data(), args);
      return outputs(dbias);
    });
  });
  sweep.report();
}
