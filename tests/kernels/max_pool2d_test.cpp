#include "kernels/tolerance.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/options.h"
#include "tests/support/random_values.h"
#include "tests/support/window_shapes.h"

using namespace warpline;
using namespace warpline::test;
using kernels::MaxPool2dBackward;
using kernels::MaxPool2dForward;
using kernels::MaxPool2dIndices;

namespace {

const Offers offers{true, true};

// Positions in the type that the arguments ask for.
struct Positions {
  explicit Positions(const MaxPool2dArgs& args)
      : wide(args.wide_positions()),
        narrow_cells(wide ? 0 : y_size(args)),
        wide_cells(wide ? y_size(args) : 0) {}
  void* data() { return wide ? static_cast<void*>(wide_cells.data()) : narrow_cells.data(); }
  const void* data() const {
    return wide ? static_cast<const void*>(wide_cells.data()) : narrow_cells.data();
  }

  bool wide;
  Guarded<std::uint8_t> narrow_cells;
  Guarded<std::int32_t> wide_cells;
};

template <class T>
struct Pooled {
  std::vector<T> y;
  std::vector<std::int64_t> indices;
};

// The forward kernel of a row, and the flat indices by `ref`, as a user sees them.
template <class T>
Pooled<T> pool(const Launch<MaxPool2dForward>& forward, const Guarded<T>& x, const MaxPool2dArgs& args) {
  auto y = unwritten<T>(y_size(args));
  Positions positions(args);
  auto indices = unwritten<std::int64_t>(y_size(args));
  forward(x.data(), y.data(), positions.data(), args);
  kernels::kernel<MaxPool2dIndices>(DeviceKind::Ref, DType::Int64, args)(positions.data(), indices.data(),
                                                                         args, {});
  return {y.values(), indices.values()};
}

// Calls body(launch) for each row of the forward kernel.
template <class T, class Body>
void for_each_forward(const MaxPool2dArgs& args, Body body) {
  for_each_row<MaxPool2dForward>(dtype_of<T>, args, body);
}

using Indices = std::vector<std::int64_t>;

}  // namespace

TEMPLATE_TEST_CASE("of equal values the first in row-major order wins and takes the whole gradient",
                   "[max_pool2d]", float, double, std::uint32_t) {
  const MaxPool2dArgs args = max_pool2d_args(1, {{2, 4}, {2, 3}, {2, 1}});
  const Guarded<TestType> x{5, 1, 7, 7,   //
                            5, 7, 7, 0};  // windows: columns 0..2 and 1..3
  for_each_forward<TestType>(args, [&](const auto& forward) {
    CHECK(pool(forward, x, args).indices == Indices{2, 2});
    auto y = unwritten<TestType>(2);
    Positions positions(args);
    forward(x.data(), y.data(), positions.data(), args);
    const Guarded<TestType> dy{10, 3};
    for_each_row<MaxPool2dBackward>(dtype_of<TestType>, args, [&](const auto& backward) {
      auto dx = unwritten<TestType>(8);
      backward(dy.data(), positions.data(), dx.data(), args);
      CHECK(dx.values() == std::vector<TestType>{0, 0, 13, 0, 0, 0, 0, 0});  // overlapping windows add
    });
  });
}

TEMPLATE_TEST_CASE("NaN wins, and of several the last one's place is kept", "[max_pool2d]", float, double) {
  const MaxPool2dArgs args = max_pool2d_args(1, {{2, 6}, {2, 3}, {2, 3}});
  const TestType nan = kNaNOf<TestType>;
  const Guarded<TestType> x{nan, 9,   1, 2, nan, 3,  //
                            8,   nan, 4, 9, 5,   kInfOf<TestType>};
  for_each_forward<TestType>(args, [&](const auto& forward) {
    const Pooled<TestType> result = pool(forward, x, args);
    CHECK(std::isnan(result.y[0]));
    CHECK(std::isnan(result.y[1]));
    CHECK(result.indices == Indices{7, 4});
  });
}

TEMPLATE_TEST_CASE("a window of only -inf gives -inf and its first valid place", "[max_pool2d]", float,
                   double) {
  const MaxPool2dArgs args = max_pool2d_args(1, {{3, 4}, {2, 3}, {2, 2}, {1, 1}});
  REQUIRE(args.out_h == 2);
  REQUIRE(args.out_w == 2);
  const Guarded<TestType> x(12, -kInfOf<TestType>);
  for_each_forward<TestType>(args, [&](const auto& forward) {
    const Pooled<TestType> result = pool(forward, x, args);
    CHECK(result.y == std::vector<TestType>(4, -kInfOf<TestType>));
    CHECK(result.indices == Indices{0, 1, 4, 5});
  });
}

// With padding as 0, or as the least finite number, negative inputs would lose or -inf would win nothing.
TEMPLATE_TEST_CASE("padding never wins over negative values", "[max_pool2d]", float, double) {
  const MaxPool2dArgs args = max_pool2d_args(2, {{3, 2}, {3, 2}, {1, 2}, {1, 1}});
  const Guarded<TestType> x{-1, -2, -3, -4, -5, -6, -6, -5, -4, -3, -2, -1};
  for_each_forward<TestType>(args, [&](const auto& forward) {
    const Pooled<TestType> result = pool(forward, x, args);
    CHECK(result.y == std::vector<TestType>{-1, -2, -1, -2, -3, -4, -4, -3, -2, -1, -2, -1});
    CHECK(result.indices == Indices{0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5});
  });
}

// x = pattern(30, 3, 5) as 1 x 1 x 5 x 6 with NaN at 8 and 21 and -inf at 24; dy = pattern(18, 7, 9).
TEMPLATE_TEST_CASE("a strided, padded, dilated pooling in ceil mode gives PyTorch's numbers", "[max_pool2d]",
                   float, double) {
  const MaxPool2dArgs args = max_pool2d_args(1, {{5, 6}, {3, 2}, {2, 1}, {1, 1}, {1, 2}}, true);
  auto x = pattern<TestType>(30, 3, 5);
  const TestType nan = kNaNOf<TestType>;
  x[8] = x[21] = nan;
  x[24] = -kInfOf<TestType>;
  const auto dy = pattern<TestType>(18, 7, 9);
  for_each_forward<TestType>(args, [&](const auto& forward) {
    auto y = unwritten<TestType>(18);
    Positions positions(args);
    forward(x.data(), y.data(), positions.data(), args);
    CHECK(first_difference(outputs(y).values,
                           {1, nan, 2, nan, 2, 0, 2, nan, nan, nan, nan, 1, 0, 2, nan, 2, nan, 2}, 0) == "");
    for_each_row<MaxPool2dIndices>(DType::Int64, args, [&](const auto& flat) {
      auto indices = unwritten<std::int64_t>(18);
      flat(positions.data(), indices.data(), args);
      CHECK(indices.values() == Indices{1, 8, 3, 8, 3, 4, 13, 8, 21, 8, 21, 16, 19, 18, 21, 28, 21, 28});
      CHECK(indices.intact());
    });
    for_each_row<MaxPool2dBackward>(dtype_of<TestType>, args, [&](const auto& backward) {
      auto dx = unwritten<TestType>(30);
      backward(dy.data(), positions.data(), dx.data(), args);
      CHECK(dx.values() == std::vector<TestType>{0, -4, 0, -2, 4,  0, 0, 0, -2, 0, 0, 0, 0, 2, 0,
                                                 0, 1,  0, -3, -1, 0, 5, 0, 0,  0, 0, 0, 0, 0, 0});
    });
  });
}

// Whole numbers bring many ties; every 7th cell is NaN and every 5th -inf where the type has them.
TEMPLATE_TEST_CASE("every row of max_pool2d equals ref in values, places and gradients", "[max_pool2d]",
                   float, double, std::uint32_t) {
  Sweep<MaxPool2dForward, TestType> forward_sweep;
  Sweep<MaxPool2dBackward, TestType> backward_sweep;
  for (const MaxPool2dArgs& args : max_pool2d_sweep()) {
    for (const bool special : {false, true}) {
      INFO(describe(args) << (special ? ", with NaN and -inf" : ""));
      auto x = random_values<TestType>(x_size(args), Data::Integers, 1);
      for (std::int64_t i = 0; special && std::is_floating_point_v<TestType> && i < x.size(); ++i) {
        if (i % 5 == 0) x[i] = -kInfOf<TestType>;
        if (i % 7 == 0) x[i] = kNaNOf<TestType>;
      }
      forward_sweep.check(args, 0, [&](const auto& launch) {
        auto y = unwritten<TestType>(y_size(args));
        Positions positions(args);
        launch(x.data(), y.data(), positions.data(), args);
        return outputs(y, positions.narrow_cells, positions.wide_cells);
      });
      auto y = unwritten<TestType>(y_size(args));
      Positions positions(args);
      kernels::kernel<MaxPool2dForward>(DeviceKind::Ref, dtype_of<TestType>, args)(
          x.data(), y.data(), positions.data(), args, {});
      const auto dy = random_values<TestType>(y_size(args), special ? Data::Reals : Data::Integers, 2);
      const double tolerance = special ? sum_tolerance<TestType>(args.kernel_h * args.kernel_w, 1) : 0;
      backward_sweep.check(args, tolerance, [&](const auto& launch) {
        auto dx = unwritten<TestType>(x_size(args));
        launch(dy.data(), positions.data(), dx.data(), args);
        return outputs(dx);
      });
    }
  }
  forward_sweep.report();
  backward_sweep.report();
}

// Six values that differ in every way a comparison can: 6^4 windows side by side.
TEMPLATE_TEST_CASE("every 2 x 2 window of NaN, -inf, -0, 0, 1 and inf", "[max_pool2d]", float, double) {
  const std::array<TestType, 6> values{kNaNOf<TestType>, -kInfOf<TestType>, -0.0F, 0, 1, kInfOf<TestType>};
  constexpr std::int64_t kWindows = 6 * 6 * 6 * 6;
  const MaxPool2dArgs args = max_pool2d_args(1, {{2, 2 * kWindows}, {2, 2}, {2, 2}});
  Guarded<TestType> x(4 * kWindows);
  for (std::int64_t window = 0; window < kWindows; ++window) {
    const auto value = [&](std::int64_t divisor) {
      return values[static_cast<std::size_t>(window / divisor % 6)];
    };
    x[2 * window] = value(1);
    x[2 * window + 1] = value(6);
    x[2 * (kWindows + window)] = value(36);
    x[2 * (kWindows + window) + 1] = value(216);
  }
  Sweep<MaxPool2dForward, TestType> sweep;
  sweep.check(args, 0, [&](const auto& launch) {
    auto y = unwritten<TestType>(kWindows);
    Positions positions(args);
    launch(x.data(), y.data(), positions.data(), args);
    return outputs(y, positions.narrow_cells);
  });
  sweep.report();
}

TEST_CASE("every row of max_pool2d_indices equals ref", "[max_pool2d]") {
  Sweep<MaxPool2dIndices, std::int64_t> sweep;
  for (const MaxPool2dArgs& args : max_pool2d_sweep()) {
    INFO(describe(args));
    const auto x = random_values<float>(x_size(args), Data::Reals, 1);
    auto y = unwritten<float>(y_size(args));
    Positions positions(args);
    kernels::kernel<MaxPool2dForward>(DeviceKind::Ref, DType::Float32, args)(x.data(), y.data(),
                                                                             positions.data(), args, {});
    sweep.check(args, 0, [&](const auto& launch) {
      auto indices = unwritten<std::int64_t>(y_size(args));
      launch(positions.data(), indices.data(), args);
      return outputs(indices);
    });
  }
  sweep.report();
}
