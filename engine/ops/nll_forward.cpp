#include "engine/ops/nll_forward.h"

#include <limits>

#include "engine/checks.h"
#include "engine/ops/axis.h"
#include "kernels/error.h"
#include "kernels/table.h"

namespace warpline {
namespace {

constexpr std::string_view kName = "nll_loss";

void raise_bad_target(const Tensor& error, const NllArgs& args) {
  const std::vector<std::int64_t> flag = error.to_host<std::int64_t>();
  if (flag[0] < 0) return;
  fail<ValueError>(kName, "a target must lie in 0..{} or be the ignored {}: row {} holds {}, for {} classes",
                   args.classes - 1, args.ignore_index, flag[0], flag[1], args.classes);
}

}  // namespace

NllArgs nll_args(const Shape& input, const Shape& target, const NllOptions& options) {
  if (input.empty()) fail<ShapeError>(kName, "input must be C, N, C or N, C, d1, ..: it is a scalar");
  const int axis = class_axis(input);
  Shape expected = input;
  expected.erase(expected.begin() + axis);
  if (target != expected) {
    fail<ShapeError>(kName, "input {} takes a target of shape {}: it is {}", to_string(input),
                     to_string(expected), to_string(target));
  }
  const AxisArgs along = axis_args(input, axis);
  return {along.outer, along.classes, along.inner, options.ignore_index, options.reduction};
}

NllResult nll_forward(Context& context, const Tensor& log_probability, const Tensor& target,
                      const Tensor& weight, const NllOptions& options) {
  check_same_device(kName, context, {{"input", log_probability}, {"target", target}, {"weight", weight}});
  const DType dtype = check_floating(kName, {{"input", log_probability}, {"weight", weight}});
  check_dtype(kName, {"target", target}, DType::Int64);
  const NllArgs args = nll_args(log_probability.shape(), target.shape(), options);
  check_shape(kName, {"weight", weight}, {args.classes});
  if (weight.defined() && weight.requires_grad()) {
    fail<AutogradError>(kName, "weight gets no gradient: pass detach() of {}", describe(weight));
  }
  const auto forward = kernels::kernel<kernels::NllForward>(context.device().kind, dtype, args);

  static_assert(sizeof(TargetError) == 2 * sizeof(std::int64_t));
  const TargetError none;
  const Tensor error = Tensor::from_host(context, std::vector<std::int64_t>{none.row, none.target}, {2});
  const Tensor total_weight = Tensor::empty(context, {}, dtype);
  Tensor loss;
  if (target.count() == 0) {
    const bool mean = options.reduction == Reduction::Mean;
    loss = Tensor::full(context, nll_loss_shape(log_probability.shape(), target.shape(), options),
                        mean ? std::numeric_limits<double>::quiet_NaN() : 0.0, dtype);
  } else {
    loss = Tensor::empty(context, nll_loss_shape(log_probability.shape(), target.shape(), options), dtype);
    forward(log_probability.data(), static_cast<const std::int64_t*>(target.data()),
            weight.defined() ? weight.data() : nullptr, loss.data(), total_weight.data(),
            static_cast<TargetError*>(error.data()), args, context.stream());
    context.device_stream()->check_later([error, args] { raise_bad_target(error, args); });
  }
  return {args, loss, total_weight};
}

}  // namespace warpline
