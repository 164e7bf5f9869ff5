#include "engine/ops/max_pool2d.h"

#include <cmath>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "engine/autograd.h"
#include "kernels/error.h"
#include "tests/support/errors.h"
#include "tests/support/gradcheck.h"
#include "tests/support/not_finite.h"
#include "tests/support/options.h"
#include "tests/support/values.h"

using namespace warpline;
using namespace warpline::test;

namespace {

const Offers offers{true, false};

struct Case {
  Shape input;
  MaxPool2dOptions options;
};

const std::vector<Case> kCases{
    {{2, 3, 6, 4}, {.kernel_size = {2, 2}}},
    {{1, 2, 7, 5}, {.kernel_size = {3, 2}, .stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 3}}},
    {{2, 5, 6}, {.kernel_size = {2, 3}, .stride = {2, 2}, .padding = {0, 1}, .ceil_mode = true}},
    {{1, 1, 5, 9}, {.kernel_size = {2, 4}, .stride = {1, 3}, .padding = {1, 2}, .dilation = {2, 1}}},
    {{1, 2, 18, 20}, {.kernel_size = {17, 16}, .stride = {1, 2}}},
};

struct Result {
  Shape shape;
  std::vector<double> output, indices, input;
};

Result run(Context& context, const std::vector<double>& x, const Shape& shape,
           const MaxPool2dOptions& options) {
  const Tensor input = make(context, x, shape).set_requires_grad();
  const MaxPool2dResult result = max_pool2d_with_indices(context, input, options);
  CHECK(result.indices.dtype() == DType::Int64);
  CHECK_FALSE(result.indices.requires_grad());
  CHECK(difference(values(max_pool2d(context, input, options)), values(result.output)) == "");
  backward(context, {result.output}, {pattern(context, result.output.shape(), 4)});
  return {result.output.shape(), values(result.output), values(result.indices), values(input.grad())};
}

std::int64_t height_out(std::int64_t height, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  return max_pool2d_shape(
      {1, 1, height, 1},
      {.kernel_size = {kernel, 1}, .stride = {stride, 1}, .padding = {padding, 0}, .ceil_mode = true})[2];
}

}  // namespace

// Numbers of PyTorch 1.13 for the same inputs.
TEST_CASE("max_pool2d, its indices and its gradient are PyTorch's", "[max_pool2d][op]") {
  on_each_device("max_pool2d literals", [](Context& context) {
    const Result first =
        run(context, pattern(60, 1), {2, 5, 6},
            {.kernel_size = {3, 2}, .stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 3}});
    CHECK(first.shape == Shape{2, 3, 3});
    CHECK(difference(first.output, {4, -1, 4, -1, 4, 4, 4, 4, -1, 4, -1, 4, 4, 4, 4, 4, 4, -1}) == "");
    CHECK(difference(first.indices, {3, 1, 2, 12, 13, 14, 24, 25, 23, 6, 4, 5, 6, 16, 17, 27, 28, 26}) == "");
    CHECK(difference(first.input, {0, 3, -3, 4,  0, 0, 0,  0,  0, 0, 0, 0, -3, 3, 4, 0, 0, 0, 0, 0,
                                   0, 0, 0,  -1, 0, 2, 0,  0,  0, 0, 0, 0, 0,  0, 0, 4, 5, 0, 0, 0,
                                   0, 0, 0,  0,  0, 0, -3, -3, 0, 0, 0, 0, 0,  0, 0, 0, 0, 3, 4, 0}) == "");

    const Result second =
        run(context, pattern(20, 1), {1, 1, 5, 4},
            {.kernel_size = {2, 3}, .stride = {2, 2}, .padding = {0, 1}, .ceil_mode = true});
    CHECK(second.shape == Shape{1, 1, 3, 3});
    CHECK(difference(second.output, {0, 4, 4, 4, 4, 0, 0, -2, -5}) == "");
    CHECK(difference(second.indices, {0, 2, 3, 13, 13, 11, 16, 18, 19}) == "");
    CHECK(difference(second.input, {4, 0, 3, -3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 2, -1}) == "");
  });
}

TEST_CASE("max_pool2d gives the same values, indices and gradients on each target", "[max_pool2d][op]") {
  std::size_t agreed = 0;
  for (const Case& c : kCases) {
    INFO("input " << to_string(c.input));
    const std::vector<double> x = pattern(element_count(c.input), 1);  // full of ties
    check_against_ref([&](Context& context) -> Lists {
      const Result result = run(context, x, c.input, c.options);
      CHECK(result.shape == max_pool2d_shape(c.input, c.options));
      return {result.output, result.indices, result.input};
    });
    ++agreed;
  }
  fmt::print("max_pool2d: {} of {} configurations compared with ref\n", agreed, kCases.size());
}

TEST_CASE("max_pool2d's gradient agrees with central differences", "[max_pool2d][op][gradcheck]") {
  for (const Case& c : kCases) {
    CHECK(gradcheck("max_pool2d " + to_string(c.input),
                    [&c](Context& context, const std::vector<Tensor>& in) {
                      return max_pool2d(context, in[0], c.options);
                    },
                    {{spread(element_count(c.input), 1), c.input}}) == "");
  }
}

TEST_CASE("max_pool2d takes the first of ties and adds the gradients of overlapping windows",
          "[max_pool2d][op]") {
  on_each_device("max_pool2d ties", [](Context& context) {
    const Result tie = run(context, {2, 7, 7, 7}, {1, 2, 2}, {.kernel_size = {2, 2}});
    CHECK(difference(tie.indices, {1}) == "");
    CHECK(difference(tie.input, {0, pattern(1, 4)[0], 0, 0}) == "");
    const Result overlap = run(context, {1, 5, 2}, {1, 1, 3}, {.kernel_size = {1, 2}, .stride = {1, 1}});
    CHECK(difference(overlap.input, {0, pattern(2, 4)[0] + pattern(2, 4)[1], 0}) == "");
  });
}

TEST_CASE("max_pool2d: NaN wins, and the last of several", "[max_pool2d][op]") {
  on_each_device("max_pool2d NaN", [](Context& context) {
    const Result result = run(context, {1, kNaN, kInf, kNaN, 9, 8}, {1, 3, 2}, {.kernel_size = {3, 2}});
    CHECK(difference(result.output, {kNaN}) == "");
    CHECK(difference(result.indices, {3}) == "");
    CHECK(difference(result.input, {0, 0, 0, pattern(1, 4)[0], 0, 0}) == "");
  });
}

TEST_CASE("max_pool2d pads with -inf, which is never chosen", "[max_pool2d][op]") {
  on_each_device("max_pool2d -inf", [](Context& context) {
    const Result result = run(context, {-kInf, -kInf, -kInf, -kInf}, {1, 2, 2},
                              {.kernel_size = {2, 2}, .stride = {2, 2}, .padding = {1, 1}});
    CHECK(difference(result.output, {-kInf, -kInf, -kInf, -kInf}) == "");
    CHECK(difference(result.indices, {0, 1, 2, 3}) == "");
    CHECK(difference(result.input, pattern(4, 4)) == "");
    const Result one = run(context, std::vector<double>(6, -kInf), {1, 2, 3},
                           {.kernel_size = {4, 3}, .stride = {4, 3}, .padding = {2, 1}, .ceil_mode = true});
    CHECK(difference(one.indices, {0, 2}) == "");
  });
}

TEST_CASE("max_pool2d in ceil mode starts no window behind the input", "[max_pool2d][op]") {
  CHECK(height_out(4, 2, 3, 0) == 2);
  CHECK(height_out(4, 2, 2, 1) == 3);
  CHECK(height_out(4, 2, 3, 1) == 2);
  CHECK(height_out(3, 2, 2, 1) == 2);
  CHECK(height_out(3, 1, 3, 0) == 1);
}

TEST_CASE("max_pool2d keeps positions beyond 255", "[max_pool2d][op]") {
  on_each_device("max_pool2d wide positions", [](Context& context) {
    std::vector<double> x(17 * 18, -1.0), gradient(17 * 18, 0.0);
    x[16 * 18 + 16] = 5.0;  // cell 288 of the first window, 287 of the second
    gradient[16 * 18 + 16] = pattern(2, 4)[0] + pattern(2, 4)[1];
    const Result result = run(context, x, {1, 17, 18}, {.kernel_size = {17, 17}, .stride = {1, 1}});
    CHECK(difference(result.indices, {16 * 18 + 16, 16 * 18 + 16}) == "");
    CHECK(difference(result.input, gradient) == "");
  });
}

TEST_CASE("max_pool2d of an empty batch is empty", "[max_pool2d][op]") {
  on_each_device("max_pool2d empty batch", [](Context& context) {
    const Tensor x = Tensor::zeros(context, {0, 2, 4, 6}).set_requires_grad();
    const MaxPool2dResult result = max_pool2d_with_indices(context, x, {.kernel_size = {2, 3}});
    CHECK(result.output.shape() == Shape{0, 2, 2, 2});
    CHECK(result.indices.shape() == Shape{0, 2, 2, 2});
    backward(context, {result.output}, {Tensor::zeros(context, {0, 2, 2, 2})});
    CHECK(x.grad().shape() == x.shape());
  });
}

TEST_CASE("max_pool2d refuses bad calls with the numbers, alike on each target", "[max_pool2d][op][errors]") {
  on_each_device("max_pool2d errors", [](Context& context) {
    const auto call = [&](const Shape& x, const MaxPool2dOptions& options) {
      return [&context, x, options] { max_pool2d(context, Tensor::zeros(context, x), options); };
    };
    for (const Shape& empty : {Shape{2, 0, 4, 4}, Shape{2, 3, 0, 4}, Shape{2, 3, 4, 0}, Shape{0, 4, 4}}) {
      CHECK(error_of<ShapeError>(call(empty, {.kernel_size = {2, 2}})) ==
            "[max_pool2d] channels, height and width must not be 0: input is " + to_string(empty));
    }
    CHECK(error_of<ShapeError>(call({4, 4}, {.kernel_size = {2, 2}})) ==
          "[max_pool2d] input must be N, C, H, W or C, H, W: its shape is [4, 4]");
    CHECK(error_of<ShapeError>(call({1, 4, 3}, {.kernel_size = {2, 5}, .padding = {0, 0}})) ==
          "[max_pool2d] the kernel must fit the padded input: along the width, kernel 5 with dilation 1 "
          "spans 5, input 3 with padding 0 and 0 has 3");
    CHECK(error_of<ValueError>(call({1, 4, 4}, {.kernel_size = {3, 2}, .padding = {1, 2}})) ==
          "[max_pool2d] padding must be at most half of the kernel: padding 1x2, kernel 3x2");
    CHECK(error_of<ValueError>(call({1, 1, 1}, {.kernel_size = {70000, 70000}, .padding = {35000, 35000}})) ==
          "[max_pool2d] the kernel must have fewer than 2^31 cells: it is 70000x70000");
    CHECK(error_of<ValueError>(call({1, 4, 4}, {})) ==
          "[max_pool2d] kernel size must be positive: it is 0x0");
    CHECK(error_of<ValueError>(call({1, 4, 4}, {.kernel_size = {2, 2}, .stride = {1, 0}})) ==
          "[max_pool2d] stride must be positive: it is 1x0");
    CHECK(error_of<ValueError>(call({1, 4, 4}, {.kernel_size = {2, 2}, .padding = {0, -1}})) ==
          "[max_pool2d] padding must not be negative: it is 0x-1");
    CHECK(error_of<ValueError>(call({1, 4, 4}, {.kernel_size = {2, 2}, .dilation = {0, 1}})) ==
          "[max_pool2d] dilation must be positive: it is 0x1");
    CHECK(error_of<ShapeError>(
              call({1, 2, 4}, {.kernel_size = {2, 1}, .padding = {1, 0}, .dilation = {3, 1}})) ==
          "[max_pool2d] each window must meet the input: along the height, window 0 of kernel 2, dilation 3 "
          "and padding 1 steps over all 2 cells");
    CHECK(error_of<ShapeError>(
              call({1, 4, 2}, {.kernel_size = {1, 2}, .padding = {0, 1}, .dilation = {1, 3}})) ==
          "[max_pool2d] each window must meet the input: along the width, window 0 of kernel 2, dilation 3 "
          "and padding 1 steps over all 2 cells");
    CHECK(error_of<DTypeError>([&] {
            max_pool2d(context, Tensor::zeros(context, {1, 4, 4}, DType::Int64), {.kernel_size = {2, 2}});
          }) == "[max_pool2d] input must be float32 or float64: it is int64");
  });
}

TEST_CASE("max_pool2d keeps a byte a window for backward, and computes nothing unwanted",
          "[max_pool2d][op]") {
  on_each_device("max_pool2d wanted", [](Context& context) {
    const Tensor x = pattern(context, {2, 3, 6, 4}, 1).set_requires_grad();
    const Tensor y = max_pool2d(context, x, {.kernel_size = {2, 2}});
    CHECK(y.node()->saved().at(0)->bytes() == y.count());
    CHECK(wanted_check(context, y) == "");
  });
}
