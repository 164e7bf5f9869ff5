#include "engine/ops/conv2d.h"

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

struct Case {
  Shape input, weight;
  Conv2dOptions options;
};

// Height and width differ in every number, so that one used for the other shows.
const std::vector<Case> kCases{
    {{2, 3, 6, 5}, {4, 3, 3, 2}, {}},
    {{1, 2, 7, 9}, {3, 2, 2, 3}, {{2, 3}, {1, 2}, {1, 1}, 1, false}},
    {{2, 4, 8, 7}, {6, 2, 3, 2}, {{1, 2}, {0, 1}, {2, 3}, 2, false}},
    {{3, 4, 5, 4}, {4, 1, 2, 3}, {{2, 1}, {1, 0}, {1, 1}, 4, false}},
    {{1, 3, 6, 8}, {3, 1, 4, 2}, {{1, 1}, {0, 0}, {1, 2}, 3, true}},
    {{3, 5, 4}, {2, 3, 1, 1}, {{3, 2}, {0, 0}, {1, 1}, 1, false}},
    {{1, 1, 1, 9}, {2, 1, 1, 4}, {{1, 5}, {2, 1}, {1, 1}, 1, false}},
};

struct Result {
  Shape shape;
  std::vector<double> output, input, weight, bias;
};

Result run(Context& context, const Case& c) {
  Tensor x = pattern(context, c.input, 1).set_requires_grad();
  Tensor w = pattern(context, c.weight, 2).set_requires_grad();
  Tensor b = pattern(context, {c.weight[0]}, 3).set_requires_grad();
  const Tensor y = conv2d(context, x, w, b, c.options);
  backward(context, {y}, {pattern(context, y.shape(), 4)});
  return {y.shape(), values(y), values(x.grad()), values(w.grad()), values(b.grad())};
}

}  // namespace

// Numbers of PyTorch 1.13 for the same inputs.
TEST_CASE("conv2d and its gradients are PyTorch's", "[conv2d][op]") {
  on_each_device("conv2d literals", [](Context& context) {
    const Result asymmetric = run(context, {{1, 2, 4, 5}, {2, 1, 3, 2}, {{2, 1}, {1, 0}, {1, 2}, 2, false}});
    CHECK(asymmetric.shape == Shape{1, 2, 2, 3});
    CHECK(difference(asymmetric.output, {-19, -48, -25, -23, -59, -66, 2, -26, 0, -11, -11, -32}) == "");
    CHECK(difference(asymmetric.input,
                     {-8, -6, -2, -6, 6,  1, 27, 16, 27, 1, 6, -6, -2, -6, -8, -12, 12, 1,  15, 20,
                      0,  0,  0,  6,  -3, 2, 2,  9,  10, 7, 0, 0,  6,  0,  12, 2,   0,  14, 0,  20}) == "");
    CHECK(difference(asymmetric.weight, {-20, -17, -7, 62, -19, -31, 8, -8, -34, -18, 2, -24}) == "");
    CHECK(difference(asymmetric.bias, {8, 7}) == "");

    // Unbatched; "same" with a kernel of even height puts the odd row at the bottom.
    const Result same = run(context, {{2, 3, 3}, {2, 2, 2, 3}, {.same = true}});
    CHECK(same.shape == Shape{2, 3, 3});
    CHECK(difference(same.output, {25, -18, 24, -13, -22, -10, -16, -20, -43, 18, 32, -6, -23, -23, -47, 10,
                                   -19, 0}) == "");
    CHECK(difference(same.input, {27, 1, -26, 5, 82, 45, 5, -46, -3, 15, 24, -9, 8, 39, 35, 32, 8, 1}) == "");
    CHECK(difference(same.weight, {5,   -29, 1,   -5, -1, -13, 17,  15,  -24, -18, -17, 16,
                                   -29, 11,  -31, 14, 17, 7,   -29, -34, -24, 19,  23,  20}) == "");
    CHECK(difference(same.bias, {9, 10}) == "");
  });
}

TEST_CASE("conv2d gives rows that no window covers a gradient of exactly 0", "[conv2d][op]") {
  on_each_device("conv2d uncovered rows", [](Context& context) {
    Tensor x = pattern(context, {1, 1, 5, 3}, 1).set_requires_grad();
    const Tensor w = pattern(context, {1, 1, 2, 2}, 2);
    const Tensor y = conv2d(context, x, w, {}, {.stride = {3, 1}});
    CHECK(difference(values(y), {-10, 13, -32, -36}) == "");
    backward(context, {y}, {pattern(context, y.shape(), 4)});
    CHECK(difference(values(x.grad()), {20, 31, 12, -8, -14, -6, 0, 0, 0, -15, -27, -12, 6, 12, 6}) == "");
  });
}

TEST_CASE("conv2d gives the same exact sums on each target", "[conv2d][op]") {
  std::size_t agreed = 0;
  for (const Case& c : kCases) {
    INFO("input " << to_string(c.input) << ", weight " << to_string(c.weight));
    check_against_ref([&](Context& context) -> Lists {
      const Result result = run(context, c);
      CHECK(result.shape == conv2d_shape(c.input, c.weight, c.options));
      return {result.output, result.input, result.weight, result.bias};
    });
    ++agreed;
  }
  fmt::print("conv2d: {} of {} configurations compared with ref\n", agreed, kCases.size());
}

TEST_CASE("conv2d's gradients agree with central differences", "[conv2d][op][gradcheck]") {
  for (const Case& c : kCases) {
    const GradcheckInput x{noise(element_count(c.input), 1), c.input};
    const GradcheckInput w{noise(element_count(c.weight), 2), c.weight};
    const GradcheckInput b{noise(c.weight[0], 3), {c.weight[0]}};
    CHECK(gradcheck("conv2d " + to_string(c.input) + " " + to_string(c.weight),
                    [&c](Context& context, const std::vector<Tensor>& in) {
                      return conv2d(context, in[0], in[1], in[2], c.options);
                    },
                    {x, w, b}) == "");
  }
}

TEST_CASE("conv2d computes and keeps only what is wanted", "[conv2d][op]") {
  on_each_device("conv2d wanted", [](Context& context) {
    Tensor x = pattern(context, {2, 3, 6, 5}, 1), w = pattern(context, {4, 3, 3, 2}, 2);
    Tensor b = pattern(context, {4}, 3);
    w.set_requires_grad();
    b.set_requires_grad();
    const Tensor first = conv2d(context, x, w, b);
    CHECK(wanted_check(context, first) == "");
    // Only the input is needed for the weight's gradient.
    std::int64_t kept = 0;
    for (const SavedTensor* saved : first.node()->saved()) kept += saved->bytes();
    CHECK(kept == x.bytes());
    // And the other way round.
    const Tensor second = conv2d(context, x.detach().set_requires_grad(), w.detach(), b.detach());
    kept = 0;
    for (const SavedTensor* saved : second.node()->saved()) kept += saved->bytes();
    CHECK(kept == w.bytes());
    x.set_requires_grad();
    CHECK(wanted_check(context, conv2d(context, x, w, b)) == "");
    CHECK(wanted_check(context, conv2d(context, x, w, {})) == "");
    CHECK(conv2d(context, x.detach(), w.detach(), b.detach()).node() == nullptr);
  });
}

TEST_CASE("conv2d of an empty batch is empty, with zero parameter gradients", "[conv2d][op]") {
  on_each_device("conv2d empty batch", [](Context& context) {
    Tensor x = pattern(context, {0, 3, 6, 5}, 1).set_requires_grad();
    Tensor w = pattern(context, {4, 3, 3, 2}, 2).set_requires_grad();
    Tensor b = pattern(context, {4}, 3).set_requires_grad();
    const Tensor y = conv2d(context, x, w, b);
    CHECK(y.shape() == Shape{0, 4, 4, 4});
    backward(context, {y}, {Tensor::zeros(context, y.shape())});
    CHECK(x.grad().shape() == x.shape());
    CHECK(difference(values(w.grad()), std::vector<double>(72, 0.0)) == "");
    CHECK(difference(values(b.grad()), std::vector<double>(4, 0.0)) == "");
  });
}

TEST_CASE("conv2d over no channels leaves the bias", "[conv2d][op]") {
  on_each_device("conv2d no channels", [](Context& context) {
    Tensor x = pattern(context, {2, 0, 3, 2}, 1).set_requires_grad();
    Tensor w = pattern(context, {2, 0, 2, 1}, 2).set_requires_grad();
    Tensor b = make(context, {5, 7}, {2}).set_requires_grad();
    const Tensor y = conv2d(context, x, w, b);
    CHECK(y.shape() == Shape{2, 2, 2, 2});
    CHECK(difference(values(y), {5, 5, 5, 5, 7, 7, 7, 7, 5, 5, 5, 5, 7, 7, 7, 7}) == "");
    CHECK(difference(values(conv2d(context, x, w, {})), std::vector<double>(16, 0.0)) == "");
    backward(context, {y}, {Tensor::full(context, y.shape(), 1.0)});
    CHECK(x.grad().shape() == x.shape());
    CHECK(w.grad().shape() == w.shape());
    CHECK(difference(values(b.grad()), {8, 8}) == "");
  });
}

TEST_CASE("conv2d refuses bad calls with the numbers, alike on each target", "[conv2d][op][errors]") {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  on_each_device("conv2d errors", [](Context& context) {
    const auto call = [&](const Shape& x, const Shape& w, const Shape& b, const Conv2dOptions& options) {
      return [&context, x, w, b, options] {
        conv2d(context, Tensor::zeros(context, x), Tensor::zeros(context, w), Tensor::zeros(context, b),
               options);
      };
    };
    CHECK(error_of<ShapeError>(call({1, 2, 3, 9}, {4, 2, 5, 2}, {4}, {})) ==
          "[conv2d] the kernel must fit the padded input: along the height, kernel 5 with dilation 1 spans "
          "5, input 3 with padding 0 and 0 has 3");
    CHECK(error_of<ShapeError>(
              call({1, 2, 9, 6}, {4, 2, 2, 3}, {4}, {.padding = {0, 1}, .dilation = {1, 4}})) ==
          "[conv2d] the kernel must fit the padded input: along the width, kernel 3 with dilation 4 spans 9, "
          "input 6 with padding 1 and 1 has 8");
    CHECK(error_of<ShapeError>(call({1, 3, 4, 4}, {4, 2, 2, 2}, {4}, {})) ==
          "[conv2d] input channels must be groups times the weight's: input [1, 3, 4, 4] has 3, weight "
          "[4, 2, 2, 2] with 1 groups takes 1 x 2");
    CHECK(error_of<ShapeError>(call({1, 3, 4, 4}, {4, 1, 2, 2}, {4}, {.groups = 2})) ==
          "[conv2d] input channels must be groups times the weight's: input [1, 3, 4, 4] has 3, weight "
          "[4, 1, 2, 2] with 2 groups takes 2 x 1");
    CHECK(error_of<ShapeError>(call({1, 6, 4, 4}, {5, 2, 2, 2}, {5}, {.groups = 3})) ==
          "[conv2d] output channels must be a positive multiple of groups: 5 with 3 groups");
    CHECK(error_of<ShapeError>(call({1, 2, 4, 4}, {3, 2, 2, 2}, {4}, {})) ==
          "[conv2d] bias must have shape [3]: it has [4]");
    CHECK(error_of<ShapeError>(call({2, 2}, {3, 2, 2, 2}, {3}, {})) ==
          "[conv2d] input must be N, C, H, W or C, H, W: its shape is [2, 2]");
    CHECK(error_of<ShapeError>(call({1, 2, 4, 4}, {3, 2, 2}, {3}, {})) ==
          "[conv2d] weight must be K, C / groups, R, S: its shape is [3, 2, 2]");
    CHECK(error_of<ShapeError>(call({1, 2, 0, 4}, {3, 2, 1, 1}, {3}, {.padding = {1, 1}})) ==
          "[conv2d] height and width must not be 0: input is [1, 2, 0, 4]");
    CHECK(error_of<ShapeError>(call({1, 2, 4, 4}, {0, 2, 1, 1}, {0}, {})) ==
          "[conv2d] output channels must be a positive multiple of groups: 0 with 1 groups");
    CHECK(error_of<ValueError>(call({1, 2, 4, 4}, {3, 2, 0, 1}, {3}, {})) ==
          "[conv2d] kernel size must be positive: it is 0x1");
    CHECK(error_of<ValueError>(call({1, 2, 4, 4}, {3, 2, 1, 1}, {3}, {.stride = {1, 0}})) ==
          "[conv2d] stride must be positive: it is 1x0");
    CHECK(error_of<ValueError>(call({1, 2, 4, 4}, {3, 2, 1, 1}, {3}, {.padding = {-1, 2}})) ==
          "[conv2d] padding must not be negative: it is -1x2");
    CHECK(error_of<ValueError>(call({1, 2, 4, 4}, {3, 2, 1, 1}, {3}, {.dilation = {-2, 1}})) ==
          "[conv2d] dilation must be positive: it is -2x1");
    CHECK(error_of<ValueError>(call({1, 2, 4, 4}, {3, 2, 1, 1}, {3}, {.groups = 0})) ==
          "[conv2d] groups must be positive: it is 0");
    CHECK(error_of<ValueError>(call({1, 2, 4, 4}, {3, 2, 2, 2}, {3}, {.stride = {1, 2}, .same = true})) ==
          "[conv2d] padding \"same\" takes stride 1 and no other padding: stride 1x2, padding 0x0");
    CHECK(error_of<ValueError>(call({1, 2, 4, 4}, {3, 2, 2, 2}, {3}, {.padding = {0, 1}, .same = true})) ==
          "[conv2d] padding \"same\" takes stride 1 and no other padding: stride 1x1, padding 0x1");
    // Sizes beyond int64: the padded height, the span of the kernel, the elements of the output.
    CHECK_THAT(error_of<ShapeError>(call({1, 2, 4, 4}, {3, 2, 1, 1}, {3}, {.padding = {kHuge, 1}})),
               Catch::Contains("int64") && Catch::Contains(std::to_string(kHuge)));
    CHECK_THAT(error_of<ShapeError>(call({1, 2, 4, 4}, {3, 2, 3, 1}, {3}, {.dilation = {kHuge, 1}})),
               Catch::Contains("int64") && Catch::Contains(std::to_string(kHuge)));
    CHECK_THAT(error_of<ShapeError>(call({1, 1, 4, 4}, {64, 1, 1, 1}, {64}, {.padding = {1 << 28, 1 << 28}})),
               Catch::Contains("int64") && Catch::Contains("[1, 64, "));
    // And of the padded image, though the output has four.
    CHECK_THAT(
        error_of<ShapeError>(call({1, 1, 1, 1}, {1, 1, 1, 1}, {1},
                                  {.stride = {4294967295, 4294967295}, .padding = {2147483648, 2147483648}})),
        Catch::Contains("int64") && Catch::Contains("[1, 4294967297, 4294967297]"));
    CHECK(error_of<DTypeError>([&] {
            conv2d(context, Tensor::zeros(context, {1, 1, 2, 2}),
                   Tensor::zeros(context, {1, 1, 1, 1}, DType::Float64), {});
          }) == "[conv2d] operands must have one dtype: input is float32, weight is float64");
    Context elsewhere({context.device().kind, 1});
    CHECK_THAT(
        error_of<DeviceError>([&] {
          conv2d(context, Tensor::zeros(context, {1, 1, 2, 2}), Tensor::zeros(elsewhere, {1, 1, 1, 1}), {});
        }),
        Catch::Contains("weight is on " + to_string(elsewhere.device())));
  });
}
