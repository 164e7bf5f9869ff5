// Facts about convolution that do not come from `ref`, on every row: numbers from PyTorch 1.13, and that the
// three gradients are the adjoints of the forward map.
#include "tests/support/kernel_rows.h"
#include "tests/support/options.h"
#include "tests/support/random_values.h"
#include "tests/support/window_shapes.h"

using namespace warpline;
using namespace warpline::test;
using kernels::Conv2dBackwardBias;
using kernels::Conv2dBackwardInput;
using kernels::Conv2dBackwardWeight;
using kernels::Conv2dForward;

namespace {

const Offers offers{true, true};

// Exact for whole numbers: in double, or modulo 2^32.
template <class T>
auto dot(const Guarded<T>& a, const Guarded<T>& b) {
  std::conditional_t<std::is_floating_point_v<T>, double, T> sum = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) sum += decltype(sum){a[i]} * decltype(sum){b[i]};
  return sum;
}

template <class T>
bool all_zero(const Guarded<T>& values) {
  return std::all_of(values.begin(), values.end(), [](T v) { return v == 0; });
}

}  // namespace

// x = pattern(40, 7, 11) as 1 x 2 x 4 x 5, weight = pattern(12, 5, 7) as 2 x 1 x 2 x 3, bias = pattern(2, 2,
// 3), dy = pattern(28, 3, 5).
TEMPLATE_TEST_CASE("a strided, padded, dilated, grouped convolution gives PyTorch's numbers", "[conv2d]",
                   float, double) {
  const Conv2dArgs args = conv2d_args(1, 2, 2, 2, {{4, 5}, {2, 3}, {2, 1}, {1, 2}, {2, 1}});
  const auto x = pattern<TestType>(40, 7, 11), weight = pattern<TestType>(12, 5, 7);
  const auto bias = pattern<TestType>(2, 2, 3), dy = pattern<TestType>(28, 3, 5);
  for_each_row<Conv2dForward>(dtype_of<TestType>, args, [&](const Launch<Conv2dForward>& forward) {
    auto y = unwritten<TestType>(28);
    forward(x.data(), weight.data(), bias.data(), y.data(), args);
    CHECK(y.values() == std::vector<TestType>{-4, -6, 17,  -13, -10, 16, -7, 0, -7, 9,   5, -21, 5,   -2,
                                              16, -6, -10, 19,  -7,  1,  1,  5, 7,  -20, 6, 10,  -11, 1});
  });
  for_each_row<Conv2dBackwardInput>(dtype_of<TestType>, args, [&](const auto& backward) {
    auto dx = unwritten<TestType>(40);
    backward(dy.data(), weight.data(), dx.data(), args);
    CHECK(dx.values() == std::vector<TestType>{0,  0, 0, 0,  0, 7,  0, -2, 11, -16, 0, 0, 0,   0,
                                               0,  5, 6, -8, 3, -6, 0, 0,  0,  0,   0, 7, -16, 11,
                                               -2, 0, 0, 0,  0, 0,  0, 5,  -7, 6,   4, -8});
  });
  for_each_row<Conv2dBackwardWeight>(dtype_of<TestType>, args, [&](const auto& backward) {
    auto dweight = unwritten<TestType>(12);
    backward(dy.data(), x.data(), dweight.data(), args);
    CHECK(dweight.values() == std::vector<TestType>{2, -13, 22, 24, -15, -9, 20, -11, -2, -15, 24, -22});
  });
  for_each_row<Conv2dBackwardBias>(dtype_of<TestType>, args, [&](const auto& backward) {
    auto dbias = unwritten<TestType>(2);
    backward(dy.data(), dbias.data(), args);
    CHECK(dbias.values() == std::vector<TestType>{0, -2});
  });
}

TEMPLATE_TEST_CASE("the gradients are the adjoints of the forward map", "[conv2d]", float, double,
                   std::uint32_t) {
  int cases = 0;
  for (const Conv2dArgs& args : conv2d_sweep()) {
    INFO(describe(args));
    const auto x = random_values<TestType>(x_size(args), Data::Integers, 1);
    const auto weight = random_values<TestType>(weight_size(args), Data::Integers, 2);
    const auto dy = random_values<TestType>(y_size(args), Data::Integers, 3);
    auto y = unwritten<TestType>(y_size(args));
    const TestType* const no_bias = nullptr;
    kernels::kernel<Conv2dForward>(DeviceKind::Ref, dtype_of<TestType>, args)(x.data(), weight.data(),
                                                                              no_bias, y.data(), args, {});
    for_each_row<Conv2dBackwardInput>(dtype_of<TestType>, args, [&](const auto& backward) {
      auto dx = unwritten<TestType>(x_size(args));
      backward(dy.data(), weight.data(), dx.data(), args);
      CHECK(dot(y, dy) == dot(x, dx));
      ++cases;
    });
    for_each_row<Conv2dBackwardWeight>(dtype_of<TestType>, args, [&](const auto& backward) {
      auto dweight = unwritten<TestType>(weight_size(args));
      backward(dy.data(), x.data(), dweight.data(), args);
      CHECK(dot(y, dy) == dot(weight, dweight));
      ++cases;
    });
    for_each_row<Conv2dBackwardBias>(dtype_of<TestType>, args, [&](const auto& backward) {
      auto dbias = unwritten<TestType>(args.filters), shifted = unwritten<TestType>(y_size(args));
      const Guarded<TestType> zeros(x_size(args)), ones(args.filters, 1);
      backward(dy.data(), dbias.data(), args);
      kernels::kernel<Conv2dForward>(DeviceKind::Ref, dtype_of<TestType>, args)(
          zeros.data(), weight.data(), ones.data(), shifted.data(), args, {});
      CHECK(dot(shifted, dy) == dot(ones, dbias));
      ++cases;
    });
  }
  fmt::print("conv2d adjoints {}: {} cases\n", to_string(dtype_of<TestType>), cases);
}

// Length 10, kernel 2, stride 4: rows 2, 3 and 6 to 9 lie between and behind the windows.
TEMPLATE_TEST_CASE("cells that no window covers get a gradient of exactly 0", "[conv2d]", float, double) {
  const Conv2dArgs args = conv2d_args(2, 1, 3, 1, {{10, 5}, {2, 1}, {4, 2}});
  REQUIRE(args.out_h == 3);
  const auto dy = random_values<TestType>(y_size(args), Data::Reals, 1);
  const Guarded<TestType> weight(weight_size(args), 1);
  for_each_row<Conv2dBackwardInput>(dtype_of<TestType>, args, [&](const auto& backward) {
    auto dx = unwritten<TestType>(x_size(args));
    backward(dy.data(), weight.data(), dx.data(), args);
    for (std::int64_t i = 0; i < dx.size(); ++i) {
      const std::int64_t h = i / args.width % args.height, w = i % args.width;
      const bool covered = h % 4 < 2 && w % 2 == 0;
      if ((dx[i] != 0) != covered) FAIL_CHECK("row " << h << " column " << w << " gets " << dx[i]);
    }
    SUCCEED();
  });
}

TEMPLATE_TEST_CASE("an empty batch has zero weight and bias gradients", "[conv2d]", float, double) {
  const Conv2dArgs args = conv2d_args(0, 2, 4, 2, {{5, 6}, {2, 3}});
  const Guarded<TestType> nothing(0);
  for_each_row<Conv2dBackwardWeight>(dtype_of<TestType>, args, [&](const auto& backward) {
    auto dweight = unwritten<TestType>(weight_size(args));
    backward(nothing.data(), nothing.data(), dweight.data(), args);
    CHECK(all_zero(dweight));
  });
  for_each_row<Conv2dBackwardBias>(dtype_of<TestType>, args, [&](const auto& backward) {
    auto dbias = unwritten<TestType>(args.filters);
    backward(nothing.data(), dbias.data(), args);
    CHECK(all_zero(dbias));
  });
}
