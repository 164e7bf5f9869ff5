#include "tests/support/kernel_rows.h"
#include "tests/support/options.h"
#include "tests/support/random_values.h"

using namespace warpline;
using namespace warpline::test;

namespace {

const Offers offers{true, true};

using Shape = std::vector<std::int64_t>;

std::int64_t count_of(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t length : shape) count *= length;
  return count;
}

// Both shapes have all axes; the one of length 1 follows the other.
BroadcastArgs broadcast_args(const Shape& a, const Shape& b) {
  BroadcastArgs args;
  args.dims = static_cast<int>(a.size());
  args.count = 1;
  std::int64_t stride_a = 1, stride_b = 1;
  for (std::size_t d = a.size(); d-- > 0;) {
    args.shape[d] = a[d] == 1 ? b[d] : a[d];
    args.stride_a[d] = a[d] == 1 ? 0 : stride_a;
    args.stride_b[d] = b[d] == 1 ? 0 : stride_b;
    stride_a *= a[d];
    stride_b *= b[d];
    args.count *= args.shape[d];
  }
  return args;
}

}  // namespace

TEMPLATE_TEST_CASE("a column and a row make a table", "[broadcast]", float, double, std::uint32_t) {
  const BroadcastArgs args = broadcast_args({2, 1}, {1, 3});
  const Guarded<TestType> column{10, 20}, row{1, 2, 3};
  for_each_row<kernels::Add>(dtype_of<TestType>, args, [&](const auto& add) {
    auto y = unwritten<TestType>(6);
    add(column.data(), row.data(), y.data(), args);
    CHECK(y.values() == std::vector<TestType>{11, 12, 13, 21, 22, 23});
  });
  for_each_row<kernels::Mul>(dtype_of<TestType>, args, [&](const auto& mul) {
    auto y = unwritten<TestType>(6);
    mul(column.data(), row.data(), y.data(), args);
    CHECK(y.values() == std::vector<TestType>{10, 20, 30, 20, 40, 60});
  });
}

// Views: transposed, every second element, rows that overlap.
TEMPLATE_TEST_CASE("operands may have any strides", "[broadcast]", float, double, std::uint32_t) {
  const Guarded<TestType> a{10, 20, 30, 40, 50, 60}, b{1, 2, 3, 4, 5, 6};
  struct Case {
    std::array<std::int64_t, kMaxDims> stride_a, stride_b;
    std::vector<TestType> sum;
  };
  for (const Case& c : {
           Case{{3, 1}, {1, 2}, {11, 23, 35, 42, 54, 66}},
           Case{{1, 2}, {3, 1}, {11, 32, 53, 24, 45, 66}},
           Case{{3, 1}, {1, 1}, {11, 22, 33, 42, 53, 64}},
           Case{{3, 1}, {0, 2}, {11, 23, 35, 41, 53, 65}},
           Case{{3, 1}, {5, 0}, {11, 21, 31, 46, 56, 66}},
           Case{{1, 1}, {1, 1}, {11, 22, 33, 22, 33, 44}},
           Case{{0, 2}, {0, 2}, {11, 33, 55, 11, 33, 55}},
       }) {
    BroadcastArgs args;
    args.dims = 2;
    args.shape = {2, 3};
    args.stride_a = c.stride_a;
    args.stride_b = c.stride_b;
    args.count = 6;
    INFO(fmt::format("strides {} {} and {} {}", c.stride_a[0], c.stride_a[1], c.stride_b[0], c.stride_b[1]));
    for_each_row<kernels::Add>(dtype_of<TestType>, args, [&](const auto& add) {
      auto y = unwritten<TestType>(6);
      add(a.data(), b.data(), y.data(), args);
      CHECK(y.values() == c.sum);
    });
  }
}

// One operation an element: nothing to reorder, so even real numbers agree to the bit.
TEMPLATE_TEST_CASE("every row of add and mul equals ref", "[broadcast]", float, double, std::uint32_t) {
  const std::vector<std::pair<Shape, Shape>> shapes{
      {{}, {}},
      {{1}, {1}},
      {{17}, {17}},
      {{70'001}, {70'001}},
      {{4'097}, {1}},
      {{1}, {65}},
      {{64, 10}, {1, 10}},
      {{61, 13}, {61, 1}},
      {{3, 1, 5}, {1, 4, 5}},
      {{2, 20, 5, 7}, {1, 20, 1, 1}},
      {{2, 3, 4, 5}, {2, 1, 4, 1}},
      {{1, 3, 1, 5}, {2, 1, 4, 1}},
      {{2, 1, 3, 1, 2, 1, 3, 1}, {1, 2, 1, 3, 1, 2, 1, 3}},
      {{70'000, 1}, {1, 3}},
      {{0, 5}, {1, 5}},
      {{3, 1}, {3, 0}},
      {{2, 0, 4}, {1, 1, 4}},
  };
  Sweep<kernels::Add, TestType> add;
  Sweep<kernels::Mul, TestType> mul;
  for (const auto& [first, second] : shapes) {
    for (const bool swapped : {false, true}) {
      const Shape& left = swapped ? second : first;
      const Shape& right = swapped ? first : second;
      const BroadcastArgs args = broadcast_args(left, right);
      INFO(fmt::format("{} elements of {} axes{}", args.count, args.dims, swapped ? ", swapped" : ""));
      const auto a = random_values<TestType>(count_of(left), Data::Reals, 1);
      const auto b = random_values<TestType>(count_of(right), Data::Reals, 2);
      const auto run = [&](const auto& launch) {
        auto y = unwritten<TestType>(args.count);
        launch(a.data(), b.data(), y.data(), args);
        return outputs(y);
      };
      add.check(args, 0, run);
      mul.check(args, 0, run);
    }
  }
  add.report();
  mul.report();
}
