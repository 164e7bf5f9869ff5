#include "kernels/tolerance.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/options.h"
#include "tests/support/random_values.h"

using namespace warpline;
using namespace warpline::test;
using kernels::Max;
using kernels::Sum;

namespace {

const Offers offers{true, true};

// Bit d of `mask` reduces axis d.
ReduceArgs reduce_args(const std::vector<std::int64_t>& shape, unsigned mask, double scale = 1.0) {
  ReduceArgs args;
  args.dims = static_cast<int>(shape.size());
  args.scale = scale;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    args.shape[d] = shape[d];
    args.reduced[d] = ((mask >> d) & 1U) != 0;
  }
  return args;
}

// Elements in the axes that are reduced, or that are kept.
std::int64_t count_of(const ReduceArgs& args, bool reduced) {
  std::int64_t count = 1;
  for (std::size_t d = 0; d < static_cast<std::size_t>(args.dims); ++d) {
    if (args.reduced[d] == reduced) count *= args.shape[d];
  }
  return count;
}

}  // namespace

TEMPLATE_TEST_CASE("sums over each subset of the axes of a 2 x 3 x 2 block", "[sum]", float, double,
                   std::uint32_t) {
  const Guarded<TestType> x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const std::vector<std::vector<TestType>> expected{
      {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
      {8, 10, 12, 14, 16, 18},  // axis 0
      {9, 12, 27, 30},          // axis 1
      {36, 42},                 // axes 0 and 1
      {3, 7, 11, 15, 19, 23},   // axis 2
      {18, 26, 34},             // axes 0 and 2
      {21, 57},                 // axes 1 and 2
      {78},
  };
  for (unsigned mask = 0; mask < 8; ++mask) {
    INFO("axes " << mask);
    const ReduceArgs args = reduce_args({2, 3, 2}, mask);
    for_each_row<Sum>(dtype_of<TestType>, args, [&](const auto& sum) {
      auto y = unwritten<TestType>(count_of(args, false));
      sum(x.data(), y.data(), args);
      CHECK(y.values() == expected[mask]);
      CHECK(y.intact());
    });
  }
}

TEMPLATE_TEST_CASE("a sum of nothing is 0 and a mean of nothing NaN", "[sum]", float, double) {
  const Guarded<TestType> nothing(0);
  for (const bool mean : {false, true}) {
    const ReduceArgs args = reduce_args({0, 3}, 1, mean ? kInf : 1.0);  // 1 / 0
    for_each_row<Sum>(dtype_of<TestType>, args, [&](const auto& sum) {
      auto y = unwritten<TestType>(3);
      sum(nothing.data(), y.data(), args);
      const double expected = mean ? kNaN : 0;
      CHECK(first_difference(outputs(y).values, {expected, expected, expected}, 0) == "");
    });
  }
}

TEMPLATE_TEST_CASE("every row of sum equals ref", "[sum]", float, double, std::uint32_t) {
  const std::vector<std::vector<std::int64_t>> shapes{
      {},
      {1},
      {17},
      {4'097},
      {100'003},
      {64, 10},
      {65, 63},
      {100, 3, 40},
      {40, 5, 40},
      {3, 70'000},
      {70'000, 3},
      {5, 7, 9},
      {2, 33, 1},
      {2, 20, 5, 7},
      {3, 1, 4, 2, 5},
      {2, 3, 1, 2, 2, 3, 1, 2},
      {0, 4},
      {4, 0, 3},
  };
  Sweep<Sum, TestType> sweep;
  for (const auto& shape : shapes) {
    for (unsigned mask = 0; mask<(1U << shape.size()); mask += shape.size()> 4 ? 5 : 1) {
      for (const Data data : {Data::Integers, Data::Reals}) {
        const ReduceArgs args = reduce_args(shape, mask, data == Data::Integers ? 2.0 : 0.3);
        const std::int64_t terms = count_of(args, true), kept = count_of(args, false);
        INFO(fmt::format("{} axes, mask {}: {} sums of {}", args.dims, mask, kept, terms));
        const auto x = random_values<TestType>(terms * kept, data, mask);
        sweep.check(args, data == Data::Integers ? 0 : sum_tolerance<TestType>(terms, 1),
                    [&](const auto& launch) {
                      auto y = unwritten<TestType>(kept);
                      launch(x.data(), y.data(), args);
                      return outputs(y);
                    });
      }
    }
  }
  sweep.report();
}

// A CUDA grid has a few thousand blocks, which then go on to the next cells: one shape for each way to share
// a sum.
TEST_CASE("every row of sum goes on past the end of its grid", "[sum]") {
  Sweep<Sum, std::uint32_t> sweep;
  for (const ReduceArgs& args : {reduce_args({1'050'000}, 0), reduce_args({33'000, 32}, 2),
                                 reduce_args({4'100, 1'024}, 2), reduce_args({33, 131'100}, 1)}) {
    const std::int64_t kept = count_of(args, false);
    INFO(kept << " sums");
    const auto x = random_values<std::uint32_t>(count_of(args, true) * kept, Data::Integers, 1);
    sweep.check(args, 0, [&](const auto& launch) {
      auto y = unwritten<std::uint32_t>(kept);
      launch(x.data(), y.data(), args);
      return outputs(y);
    });
  }
  sweep.report();
}

TEMPLATE_TEST_CASE("max takes the first maximum; NaN beats numbers and the first NaN wins", "[max]", float,
                   double) {
  const TestType nan = kNaNOf<TestType>, inf = kInfOf<TestType>;
  const AxisArgs args{5, 4, 1};
  const Guarded<TestType> x{1, 3,   2,    3,    nan,  3,    nan, inf, 1,  nan,
                            3, nan, -inf, -inf, -inf, -inf, -2,  -1,  -1, -3};
  for_each_row<Max>(dtype_of<TestType>, args, [&](const auto& max) {
    auto values = unwritten<TestType>(5);
    auto indices = unwritten<std::int64_t>(5);
    max(x.data(), values.data(), indices.data(), args);
    CHECK(first_difference(outputs(values).values, {3, nan, nan, -inf, -1}, 0) == "");
    CHECK(indices.values() == std::vector<std::int64_t>{1, 0, 1, 0, 1});
  });
}

// Long enough for a warp and for a block, whose threads see a part each.
TEMPLATE_TEST_CASE("in long rows max is the first one, and NaN wins from any place", "[max]", float, double) {
  const TestType nan = kNaNOf<TestType>, inf = kInfOf<TestType>;
  for (const std::int64_t classes : {40, 1'100}) {
    const AxisArgs args{6, classes, 1};
    Guarded<TestType> x(6 * classes, -inf);
    const auto row = [&](std::int64_t r) { return x.data() + r * classes; };
    row(1)[classes - 1] = -5;
    row(2)[33] = row(2)[34] = row(2)[7 + 32 * (classes > 40 ? 8 : 0)] = inf;
    row(3)[37] = row(3)[classes - 2] = nan;
    row(3)[5] = inf;
    row(4)[classes - 1] = nan;
    row(4)[classes - 2] = inf;
    row(5)[33] = 0;
    row(5)[3] = -TestType{0};
    for_each_row<Max>(dtype_of<TestType>, args, [&](const auto& max) {
      auto values = unwritten<TestType>(6);
      auto indices = unwritten<std::int64_t>(6);
      max(x.data(), values.data(), indices.data(), args);
      CHECK(first_difference(outputs(values).values, {-inf, -5, inf, nan, nan, 0}, 0) == "");
      CHECK(indices.values() ==
            std::vector<std::int64_t>{0, classes - 1, classes > 40 ? 33 : 7, 37, classes - 1, 3});
      CHECK(std::signbit(values[5]));  // the value at the index, not an equal one
    });
  }
}

TEST_CASE("every row of max goes on past the end of its grid", "[max]") {
  Sweep<Max, std::uint32_t> sweep;
  for (const AxisArgs& args :
       {AxisArgs{1, 2, 1'050'000}, AxisArgs{33'000, 32, 1}, AxisArgs{4'100, 1'024, 1}}) {
    const std::int64_t rows = args.outer * args.inner;
    INFO(rows << " rows");
    const auto x = random_values<std::uint32_t>(rows * args.classes, Data::Integers, 1);
    sweep.check(args, 0, [&](const auto& launch) {
      auto values = unwritten<std::uint32_t>(rows);
      auto indices = unwritten<std::int64_t>(rows);
      launch(x.data(), values.data(), indices.data(), args);
      return outputs(values, indices);
    });
  }
  sweep.report();
}

TEMPLATE_TEST_CASE("every row of max equals ref", "[max]", float, double, std::uint32_t) {
  Sweep<Max, TestType> sweep;
  for (const AxisArgs& args : {AxisArgs{1, 1, 1}, AxisArgs{64, 10, 1}, AxisArgs{5, 7, 13},
                               AxisArgs{2, 65, 17}, AxisArgs{1, 4'097, 1}, AxisArgs{3, 1'100, 2},
                               AxisArgs{70'000, 3, 1}, AxisArgs{0, 3, 2}, AxisArgs{2, 3, 0}}) {
    INFO(args.outer << " x " << args.classes << " x " << args.inner);
    for (const bool special : {false, true}) {
      auto x = random_values<TestType>(args.outer * args.classes * args.inner, Data::Integers, 1);
      if (special && std::is_floating_point_v<TestType>) {
        for (std::int64_t i = 0; i < x.size(); i += 9) x[i] = kNaNOf<TestType>;
      }
      sweep.check(args, 0, [&](const auto& launch) {
        auto values = unwritten<TestType>(args.outer * args.inner);
        auto indices = unwritten<std::int64_t>(args.outer * args.inner);
        launch(x.data(), values.data(), indices.data(), args);
        return outputs(values, indices);
      });
    }
  }
  sweep.report();
}
