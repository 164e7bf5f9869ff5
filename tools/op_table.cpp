#include "tools/op_table.h"

#include <numeric>

#include "engine/ops/add.h"
#include "engine/ops/conv2d.h"
#include "engine/ops/cross_entropy.h"
#include "engine/ops/linear.h"
#include "engine/ops/log_softmax.h"
#include "engine/ops/matmul.h"
#include "engine/ops/max_pool2d.h"
#include "engine/ops/mean.h"
#include "engine/ops/mul.h"
#include "engine/ops/nll_loss.h"
#include "engine/ops/relu.h"
#include "engine/ops/sum.h"
#include "kernels/error.h"

namespace warpline::tools {
namespace {

Tensors relu_row(Context& context, Tensors& in, Attributes&) {
  return {{"output", relu(context, in["input"])}};
}

Tensors conv2d_row(Context& context, Tensors& in, Attributes& attributes) {
  Conv2dOptions options;
  options.stride = attributes.pair("stride", options.stride);
  options.dilation = attributes.pair("dilation", options.dilation);
  options.groups = attributes.integer("groups", options.groups);
  options.same = attributes.text("padding", "0") == "same";
  if (!options.same) options.padding = attributes.pair("padding", options.padding);
  attributes.check_all_read();
  return {{"output", conv2d(context, in["input"], in["weight"], in["bias"], options)}};
}

Tensors max_pool2d_row(Context& context, Tensors& in, Attributes& attributes) {
  MaxPool2dOptions options;
  if (!attributes.has("kernel_size")) {
    fail<ValueError>("max_pool2d", "attribute kernel_size is missing; add --attr kernel_size=2");
  }
  options.kernel_size = attributes.pair("kernel_size", {});
  options.stride = attributes.pair("stride", options.kernel_size);
  options.padding = attributes.pair("padding", options.padding);
  options.dilation = attributes.pair("dilation", options.dilation);
  options.ceil_mode = attributes.boolean("ceil_mode", options.ceil_mode);
  attributes.check_all_read();
  const MaxPool2dResult result = max_pool2d_with_indices(context, in["input"], options);
  return {{"output", result.output}, {"indices", result.indices}};
}

Tensors linear_row(Context& context, Tensors& in, Attributes&) {
  return {{"output", linear(context, in["input"], in["weight"], in["bias"])}};
}

Tensors matmul_row(Context& context, Tensors& in, Attributes& attributes) {
  const bool transpose_a = attributes.boolean("transpose_a", false);
  const bool transpose_b = attributes.boolean("transpose_b", false);
  attributes.check_all_read();
  return {{"output", matmul(context, in["input"], in["other"], transpose_a, transpose_b)}};
}

Tensors log_softmax_row(Context& context, Tensors& in, Attributes& attributes) {
  const auto dim = attributes.axis("dim", -1);
  attributes.check_all_read();
  return {{"output", log_softmax(context, in["input"], dim)}};
}

NllOptions nll_options(Attributes& attributes) {
  NllOptions options;
  const std::string reduction = attributes.text("reduction", "mean");
  if (reduction == "none") {
    options.reduction = Reduction::None;
  } else if (reduction == "sum") {
    options.reduction = Reduction::Sum;
  } else if (reduction != "mean") {
    fail<ValueError>("reduction", "is none, sum or mean; got '{}'", reduction);
  }
  options.ignore_index = attributes.integer("ignore_index", options.ignore_index);
  attributes.check_all_read();
  return options;
}

Tensors nll_loss_row(Context& context, Tensors& in, Attributes& attributes) {
  return {{"output", nll_loss(context, in["input"], in["target"], in["weight"], nll_options(attributes))}};
}

Tensors cross_entropy_row(Context& context, Tensors& in, Attributes& attributes) {
  return {
      {"output", cross_entropy(context, in["input"], in["target"], in["weight"], nll_options(attributes))}};
}

Tensors add_row(Context& context, Tensors& in, Attributes&) {
  return {{"output", add(context, in["input"], in["other"])}};
}

Tensors mul_row(Context& context, Tensors& in, Attributes&) {
  return {{"output", mul(context, in["input"], in["other"])}};
}

template <Tensor (*Reduce)(Context&, const Tensor&, const std::vector<int>&, bool)>
Tensors reduce_row(Context& context, Tensors& in, Attributes& attributes) {
  std::vector<int> axes = attributes.axes("dim");
  if (!attributes.has("dim")) {
    axes.resize(static_cast<std::size_t>(in["input"].dims()));
    std::iota(axes.begin(), axes.end(), 0);
  }
  const bool keepdim = attributes.boolean("keepdim", false);
  attributes.check_all_read();
  return {{"output", Reduce(context, in["input"], axes, keepdim)}};
}

constexpr OpInput kInput{"input"};
constexpr OpInput kWeight{"weight"};
constexpr OpInput kBias{"bias", false};
constexpr OpInput kOther{"other"};
constexpr OpInput kTarget{"target", true, false};
constexpr OpInput kClassWeight{"weight", false, false};

}  // namespace

const std::vector<OpRow>& op_table() {
  static const std::vector<OpRow> rows = {
      {"relu", {kInput}, "", relu_row},
      {"max_pool2d", {kInput}, "kernel_size, stride, padding, dilation, ceil_mode", max_pool2d_row},
      {"conv2d", {kInput, kWeight, kBias}, "stride, padding (or same), dilation, groups", conv2d_row},
      {"linear", {kInput, kWeight, kBias}, "", linear_row},
      {"matmul", {kInput, kOther}, "transpose_a, transpose_b", matmul_row},
      {"log_softmax", {kInput}, "dim", log_softmax_row},
      {"nll_loss", {kInput, kTarget, kClassWeight}, "reduction, ignore_index", nll_loss_row},
      {"cross_entropy", {kInput, kTarget, kClassWeight}, "reduction, ignore_index", cross_entropy_row},
      {"add", {kInput, kOther}, "", add_row},
      {"mul", {kInput, kOther}, "", mul_row},
      {"sum", {kInput}, "dim, keepdim", reduce_row<&sum>},
      {"mean", {kInput}, "dim, keepdim", reduce_row<&mean>},
  };
  return rows;
}

}  // namespace warpline::tools
