#include "engine/ops/matmul.h"

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "engine/autograd.h"
#include "kernels/error.h"
#include "tests/support/errors.h"
#include "tests/support/gradcheck.h"
#include "tests/support/options.h"
#include "tests/support/values.h"

using namespace warpline;
using namespace warpline::test;

namespace {

const Offers offers{true, false};

// The product of an m x k and a k x n matrix, as loops.
std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, std::int64_t m,
                            std::int64_t n, std::int64_t k, bool transpose_a, bool transpose_b) {
  std::vector<double> c;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < k; ++l) {
        sum += a[static_cast<std::size_t>(transpose_a ? l * m + i : i * k + l)] *
               b[static_cast<std::size_t>(transpose_b ? j * k + l : l * n + j)];
      }
      c.push_back(sum);
    }
  }
  return c;
}

Shape stored(std::int64_t rows, std::int64_t columns, bool transposed) {
  return transposed ? Shape{columns, rows} : Shape{rows, columns};
}

}  // namespace

// Numbers of PyTorch 1.13 for the same inputs.
TEST_CASE("matmul of two transposed matrices and its gradients are PyTorch's", "[matmul][op]") {
  on_each_device("matmul literals", [](Context& context) {
    const Tensor a = pattern(context, {3, 2}, 1).set_requires_grad();
    const Tensor b = pattern(context, {4, 3}, 2).set_requires_grad();
    const Tensor c = matmul(context, a, b, true, true);
    CHECK(c.shape() == Shape{2, 4});
    CHECK(difference(values(c), {18, 11, 12, -1, 11, 18, 11, 1}) == "");
    backward(context, {c}, {pattern(context, {2, 4}, 4)});
    CHECK(difference(values(a.grad()), {2, 13, 16, 30, -8, 24}) == "");
    CHECK(difference(values(b.grad()), {-3, 28, -4, -4, 28, -3, 0, -12, 3, -2, -4, 3}) == "");
  });
}

TEST_CASE("matmul is exact for all flags and odd sizes, also 0", "[matmul][op]") {
  on_each_device("matmul sizes", [](Context& context) {
    int ran = 0;
    for (const std::int64_t m : {0, 1, 5, 33}) {
      for (const std::int64_t n : {0, 1, 7, 34}) {
        for (const std::int64_t k : {0, 1, 3, 65}) {
          for (const int flags : {0, 1, 2, 3}) {
            const bool transpose_a = (flags & 1) != 0, transpose_b = (flags & 2) != 0;
            const Shape a_shape = stored(m, k, transpose_a), b_shape = stored(k, n, transpose_b);
            const Tensor a = pattern(context, a_shape, 1).set_requires_grad();
            const Tensor b = pattern(context, b_shape, 2).set_requires_grad();
            const Tensor c = matmul(context, a, b, transpose_a, transpose_b);
            CHECK(c.shape() == Shape{m, n});
            CHECK(difference(values(c), product(pattern(m * k, 1), pattern(k * n, 2), m, n, k, transpose_a,
                                                transpose_b)) == "");
            backward(context, {c}, {Tensor::full(context, {m, n}, 1.0)});
            CHECK(a.grad().shape() == a_shape);
            CHECK(b.grad().shape() == b_shape);
            ++ran;
          }
        }
      }
    }
    fmt::print("matmul: {} of 256 sizes and flags\n", ran);
  });
}

TEST_CASE("matmul's gradients agree with central differences", "[matmul][op][gradcheck]") {
  for (const int flags : {0, 1, 2, 3}) {
    const bool transpose_a = (flags & 1) != 0, transpose_b = (flags & 2) != 0;
    CHECK(gradcheck(fmt::format("matmul transposes {} {}", transpose_a, transpose_b),
                    [=](Context& context, const std::vector<Tensor>& in) {
                      return matmul(context, in[0], in[1], transpose_a, transpose_b);
                    },
                    {{noise(15, 1), stored(3, 5, transpose_a)}, {noise(20, 2), stored(5, 4, transpose_b)}}) ==
          "");
  }
}

TEST_CASE("matmul computes and keeps only what is wanted", "[matmul][op]") {
  on_each_device("matmul wanted", [](Context& context) {
    const Tensor a = pattern(context, {2, 3}, 1).set_requires_grad(), b = pattern(context, {3, 4}, 2);
    const Tensor c = matmul(context, a, b);
    CHECK(wanted_check(context, c) == "");
    CHECK_FALSE(c.node()->saved().at(0)->defined());
    const Tensor both = matmul(context, c, pattern(context, {5, 4}, 3).set_requires_grad(), false, true);
    CHECK(wanted_check(context, both) == "");
  });
}

TEST_CASE("matmul refuses sizes that differ, alike on each target", "[matmul][op][errors]") {
  on_each_device("matmul errors", [](Context& context) {
    const auto call = [&](const Shape& a, const Shape& b, bool transpose_a, bool transpose_b) {
      return [=, &context] {
        matmul(context, Tensor::zeros(context, a), Tensor::zeros(context, b), transpose_a, transpose_b);
      };
    };
    CHECK(error_of<ShapeError>(call({2, 3}, {4, 5}, false, false)) ==
          "[matmul] inner sizes must agree: [2, 3] has 3, [4, 5] has 4");
    CHECK(error_of<ShapeError>(call({3, 2}, {3, 4}, true, true)) ==
          "[matmul] inner sizes must agree: [3, 2] transposed has 3, [3, 4] transposed has 4");
    CHECK(error_of<ShapeError>(call({2, 3, 1}, {3, 4}, false, false)) ==
          "[matmul] both operands must have two axes: [2, 3, 1] and [3, 4]");
  });
}
