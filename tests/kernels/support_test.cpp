// The helpers that judge kernels, judged: each planted fault must be seen.
#include "kernels/tolerance.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/random_values.h"
#include "tests/support/window_shapes.h"

using namespace warpline;
using namespace warpline::test;

TEST_CASE("a canary sees one element written before or behind an array", "[support]") {
  for (const std::int64_t shift : {0, 1}) {
    for (const std::int64_t outside : {-1, 5}) {
      Guarded<float> array(5, 0.0F, shift);
      CHECK(array.intact());
      array.data()[outside] = 1.0F;
      CHECK_FALSE(array.intact());
    }
  }
}

TEST_CASE("the first difference is found, and NaN agrees with NaN only", "[support]") {
  const double nan = kNaN, inf = kInf;
  CHECK(first_difference({1, nan, inf, -inf}, {1, nan, inf, -inf}, 0) == "");
  CHECK(first_difference({1.0, 2.0}, {1.05, 2.0}, 0.1) == "");
  CHECK(first_difference({1.0, 2.0}, {1.0, 2.5}, 0.1) == "[1] is 2, expected 2.5 within 0.1");
  CHECK(first_difference({nan}, {1.0}, 1e9) != "");
  CHECK(first_difference({1.0}, {nan}, 1e9) != "");
  CHECK(first_difference({inf}, {-inf}, 1e9) != "");
  CHECK(first_difference({inf}, {1.0}, 1e9) != "");
  CHECK(first_difference({1.0}, {1.0, 2.0}, 1e9) != "");
}

TEST_CASE("outputs tell equal values of other bits apart", "[support]") {
  const Guarded<float> plus{0.0F}, minus{-0.0F};
  CHECK(outputs(plus).values == outputs(minus).values);
  CHECK(outputs(plus).bits != outputs(minus).bits);
}

TEST_CASE("a lost term is outside the tolerance of a long sum", "[support]") {
  CHECK(sum_tolerance<float>(100'000, 1.0) < 0.1);
  CHECK(sum_tolerance<double>(100'000, 1.0) < 1e-9);
  CHECK(sum_tolerance<std::uint32_t>(100'000, 1.0) == 0);
}

TEST_CASE("window shapes follow PyTorch in floor and ceil mode", "[support]") {
  struct Case {
    std::int64_t length, kernel, stride, padding, expected;
  };
  for (const Case& c : {Case{4, 2, 3, 0, 2}, Case{4, 2, 2, 1, 3}, Case{3, 2, 2, 1, 2}, Case{3, 1, 3, 0, 1}}) {
    const Window window{{c.length, 1}, {c.kernel, 1}, {c.stride, 1}, {c.padding, 0}};
    CHECK(window.output(true)[0] == c.expected);
  }
  CHECK(Window{{4, 7}, {2, 3}, {3, 2}, {1, 0}, {2, 1}}.output() == Pair{2, 3});
}
