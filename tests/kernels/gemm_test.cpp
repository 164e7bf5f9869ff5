#include "kernels/tolerance.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/options.h"
#include "tests/support/random_values.h"

using namespace warpline;
using namespace warpline::test;
using kernels::Gemm;

namespace {

const Offers offers{true, true};

using Size = std::array<std::int64_t, 3>;  // m, n, k

// Rows and columns exchanged.
template <class T>
Guarded<T> transposed(const Guarded<T>& matrix, std::int64_t rows, std::int64_t columns) {
  Guarded<T> result(matrix.size());
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) result[j * rows + i] = matrix[i * columns + j];
  }
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("a product worked out by hand, with each transpose flag", "[gemm]", float, double,
                   std::uint32_t) {
  const Guarded<TestType> a{1, 2, 3, 4, 5, 6};                        // 2 x 3
  const Guarded<TestType> b{1, 0, 2, 1, 3, 1, 0, 1, 0, 2, 4, 1};      // 3 x 4
  const std::vector<TestType> expected{7, 8, 14, 6, 19, 17, 32, 15};  // 2 x 4
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      INFO("transpose " << transpose_a << transpose_b);
      const GemmArgs args{2, 4, 3, transpose_a, transpose_b};
      const auto left = transpose_a ? transposed(a, 2, 3) : a;
      const auto right = transpose_b ? transposed(b, 3, 4) : b;
      for_each_row<Gemm>(dtype_of<TestType>, args, [&](const Launch<Gemm>& gemm) {
        Guarded<TestType> c(8);
        gemm(left.data(), right.data(), c.data(), args);
        CHECK(c.values() == expected);
        CHECK(c.intact());
      });
    }
  }
}

// Full and edge tiles alike: 64 and 67 straddle the tiles of every blocking.
TEMPLATE_TEST_CASE("beta = 0 never reads c", "[gemm]", float, double) {
  for (const Size& size : {Size{64, 64, 64}, Size{67, 35, 13}, Size{5, 3, 0}}) {
    for (const double alpha : {1.0, 0.0, -0.5}) {
      const GemmArgs args{size[0], size[1], size[2], false, false, alpha, 0.0};
      INFO(args.m << " x " << args.n << " x " << args.k << " alpha " << alpha);
      const auto a = random_values<TestType>(args.m * args.k, Data::Reals, 1);
      const auto b = random_values<TestType>(args.k * args.n, Data::Reals, 2);
      for_each_row<Gemm>(dtype_of<TestType>, args, [&](const Launch<Gemm>& gemm) {
        Guarded<TestType> c(args.m * args.n, kNaNOf<TestType>);
        gemm(a.data(), b.data(), c.data(), args);
        CHECK(std::none_of(c.begin(), c.end(), [](TestType v) { return std::isnan(v); }));
      });
    }
  }
}

TEMPLATE_TEST_CASE("alpha = 0 does not read a and b", "[gemm]", float, double) {
  const std::int64_t m = 19, n = 33, k = 7;
  for (const double beta : {0.0, 1.0, 0.5}) {
    INFO("beta " << beta);
    const GemmArgs args{m, n, k, false, true, 0.0, beta};
    const Guarded<TestType> a(m * k, kNaNOf<TestType>), b(k * n, kNaNOf<TestType>);
    for_each_row<Gemm>(dtype_of<TestType>, args, [&](const Launch<Gemm>& gemm) {
      Guarded<TestType> c(m * n, 6);
      gemm(a.data(), b.data(), c.data(), args);
      CHECK(c.values() == std::vector<TestType>(m * n, static_cast<TestType>(6 * beta)));
    });
  }
}

TEMPLATE_TEST_CASE("k = 0 gives beta * c", "[gemm]", float, double, std::uint32_t) {
  for (const double beta : {0.0, 1.0, 3.0}) {
    const GemmArgs args{5, 4, 0, false, false, 2.0, beta};
    const Guarded<TestType> nothing(0);
    for_each_row<Gemm>(dtype_of<TestType>, args, [&](const Launch<Gemm>& gemm) {
      Guarded<TestType> c(20, 7);
      gemm(nothing.data(), nothing.data(), c.data(), args);
      CHECK(c.values() == std::vector<TestType>(20, static_cast<TestType>(7 * beta)));
      CHECK(c.intact());
    });
  }
}

TEMPLATE_TEST_CASE("a NaN or infinity in a reaches its row of c and no other", "[gemm]", float, double) {
  const std::int64_t m = 9, n = 17, k = 11, row = 4;
  const GemmArgs args{m, n, k};
  for (const TestType spoiler : {kNaNOf<TestType>, kInfOf<TestType>}) {
    auto a = random_values<TestType>(m * k, Data::Reals, 3);
    a[row * k + 5] = spoiler;
    const Guarded<TestType> b(k * n, TestType{0});  // 0 * inf is NaN
    for_each_row<Gemm>(dtype_of<TestType>, args, [&](const Launch<Gemm>& gemm) {
      Guarded<TestType> c(m * n, 1);
      gemm(a.data(), b.data(), c.data(), args);
      for (std::int64_t i = 0; i < m * n; ++i) {
        if (std::isnan(c[i]) != (i / n == row)) FAIL_CHECK("c[" << i << "] is " << c[i]);
      }
      SUCCEED();
    });
  }
}

// Rows whose length a vector divides, in views that begin anywhere.
TEMPLATE_TEST_CASE("a matrix may begin at any element", "[gemm]", float, double, std::uint32_t) {
  const std::int64_t m = 68, n = 12, k = 20;
  for (const int flags : {0, 1, 2, 3}) {
    const GemmArgs args{m, n, k, flags % 2 == 1, flags / 2 == 1};
    const auto a = random_values<TestType>(m * k, Data::Integers, 1);
    const auto b = random_values<TestType>(k * n, Data::Integers, 2);
    Guarded<TestType> expected(m * n);
    kernels::kernel<Gemm>(DeviceKind::Ref, dtype_of<TestType>, args)(a.data(), b.data(), expected.data(),
                                                                     args, {});
    for (const std::int64_t shift_a : {0, 1, 2, 3}) {
      for (const std::int64_t shift_b : {0, 1, 2, 3}) {
        INFO("flags " << flags << " shifted by " << shift_a << " and " << shift_b);
        Guarded<TestType> left(m * k, 0, shift_a), right(k * n, 0, shift_b);
        std::copy(a.begin(), a.end(), left.begin());
        std::copy(b.begin(), b.end(), right.begin());
        for_each_row<Gemm>(dtype_of<TestType>, args, [&](const Launch<Gemm>& gemm) {
          Guarded<TestType> c(m * n, 0, 1);
          gemm(left.data(), right.data(), c.data(), args);
          CHECK(c.values() == expected.values());
          CHECK(c.intact());
        });
      }
    }
  }
}

TEMPLATE_TEST_CASE("every row equals ref over sizes, flags and factors", "[gemm]", float, double,
                   std::uint32_t) {
  constexpr std::array<Size, 27> kSizes{{
      {0, 5, 3},      {5, 0, 3},     {5, 3, 0},      {1, 1, 1},       {1, 97, 31},     {97, 1, 31},
      {31, 29, 1},    {7, 9, 8},     {8, 8, 8},      {9, 15, 17},     {16, 16, 16},    {17, 31, 33},
      {63, 64, 65},   {64, 63, 64},  {65, 66, 63},   {2, 3, 997},     {101, 2, 53},    {3, 101, 67},
      {64, 10, 128},  {20, 576, 25}, {50, 64, 500},  {129, 130, 127}, {14, 130, 1031}, {5, 1100, 520},
      {70'000, 2, 3}, {68, 132, 36}, {36, 100, 257},
  }};
  constexpr std::array<std::array<double, 2>, 5> kFactors{{{1, 0}, {1, 1}, {-2, 2}, {0, 3}, {2, 0}}};
  Sweep<Gemm, TestType> sweep(7);  // which meets each of the eight kinds of a size in turn
  std::uint64_t seed = 1;
  for (const auto& [m, n, k] : kSizes) {
    for (const int flags : {0, 1, 2, 3}) {
      const auto& [alpha, beta] = kFactors[seed % kFactors.size()];
      const GemmArgs args{m, n, k, flags % 2 == 1, flags / 2 == 1, alpha, beta};
      for (const Data data : {Data::Integers, Data::Reals}) {
        INFO(m << " x " << n << " x " << k << " flags " << flags << " alpha " << alpha << " beta " << beta);
        const auto a = random_values<TestType>(m * k, data, seed++);
        const auto b = random_values<TestType>(k * n, data, seed++);
        const auto c = random_values<TestType>(m * n, data, seed++);
        const double tolerance = data == Data::Integers ? 0 : sum_tolerance<TestType>(k + 1, 2);
        sweep.check(args, tolerance, [&](const Launch<Gemm>& gemm) {
          Guarded<TestType> result = c;
          gemm(a.data(), b.data(), result.data(), args);
          return outputs(result);
        });
      }
    }
  }
  sweep.report();
}
