#include "tests/support/gradcheck.h"

#include <cmath>
#include <limits>

#include <fmt/core.h>

#include "engine/autograd.h"
#include "tests/support/values.h"

namespace warpline::test {
namespace {

std::vector<Tensor> make_inputs(Context& context, const std::vector<GradcheckInput>& inputs) {
  std::vector<Tensor> tensors;
  for (const GradcheckInput& input : inputs) {
    tensors.push_back(make(context, input.values, input.shape, DType::Float64));
  }
  return tensors;
}

// Gradients of the inputs marked; undefined for the others.
std::vector<Tensor> gradients_of(Context& context, const GradcheckFunction& f,
                                 const std::vector<GradcheckInput>& inputs, const std::vector<bool>& wanted,
                                 const std::vector<double>& seed) {
  std::vector<Tensor> tensors = make_inputs(context, inputs);
  for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].set_requires_grad(wanted[i]);
  const Tensor output = f(context, tensors);
  backward(context, {output}, {make(context, seed, output.shape(), DType::Float64)});
  std::vector<Tensor> gradients;
  for (const Tensor& tensor : tensors) gradients.push_back(tensor.grad());
  return gradients;
}

}  // namespace

std::string gradcheck(const std::string& name, const GradcheckFunction& f,
                      const std::vector<GradcheckInput>& inputs) {
  Context context({DeviceKind::Ref, 0});
  std::vector<double> seed;
  // sum(seed * f), and the sum of magnitudes, which bounds its rounding error.
  const auto evaluate = [&](const std::vector<GradcheckInput>& at, double* magnitude) {
    const NoGrad no_grad(context);
    const std::vector<double> y = values(f(context, make_inputs(context, at)));
    if (seed.empty()) seed = noise(static_cast<std::int64_t>(y.size()), 77);
    double sum = 0.0, absolute = 0.0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      sum += seed[i] * y[i];
      absolute += std::abs(seed[i] * y[i]);
    }
    if (magnitude != nullptr) *magnitude = absolute;
    return sum;
  };
  double magnitude = 0.0;
  evaluate(inputs, &magnitude);

  // A central difference with step h is off by h^2/6 |f'''| and by the rounding of f, eps |f| / h, which
  // balance near h = eps^(1/3), where both are about eps^(2/3) times a size of order |f|. The factor covers
  // third derivatives of the ops here, the length of the sums, and the rounding of x + h.
  const double eps = std::numeric_limits<double>::epsilon();
  const double h = std::cbrt(eps);
  const double tolerance = 64.0 * std::pow(eps, 2.0 / 3.0) * (1.0 + magnitude);

  const std::vector<Tensor> analytic =
      gradients_of(context, f, inputs, std::vector<bool>(inputs.size(), true), seed);
  std::size_t compared = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!analytic[i].defined()) return fmt::format("{}: input {} got no gradient", name, i);
    if (analytic[i].shape() != inputs[i].shape) {
      return fmt::format("{}: the gradient of input {} has shape {}", name, i,
                         to_string(analytic[i].shape()));
    }
    const std::vector<double> gradient = values(analytic[i]);
    std::vector<GradcheckInput> moved = inputs;
    for (std::size_t element = 0; element < gradient.size(); ++element) {
      const double x = inputs[i].values[element];
      const double above = x + h, below = x - h;
      moved[i].values[element] = above;
      const double f_above = evaluate(moved, nullptr);
      moved[i].values[element] = below;
      const double f_below = evaluate(moved, nullptr);
      moved[i].values[element] = x;
      const double numeric = (f_above - f_below) / (above - below);
      if (!(std::abs(numeric - gradient[element]) <= tolerance)) {
        return fmt::format("{}: input {} element {}: backward gives {}, differences {}, tolerance {}", name,
                           i, element, gradient[element], numeric, tolerance);
      }
      ++compared;
    }
    std::vector<bool> alone(inputs.size(), false);
    alone[i] = true;
    const std::vector<Tensor> single = gradients_of(context, f, inputs, alone, seed);
    for (std::size_t j = 0; j < inputs.size(); ++j) {
      if (single[j].defined() != (j == i)) {
        return fmt::format("{}: with only input {} wanting one, input {} is wrong", name, i, j);
      }
    }
    if (const std::string text = difference(values(single[i]), gradient); !text.empty()) {
      return fmt::format("{}: input {} alone gives other bits: {}", name, i, text);
    }
  }
  fmt::print("gradient check {}: {} elements of {} inputs agree\n", name, compared, inputs.size());
  return "";
}

std::string wanted_check(Context& context, const Tensor& output) {
  Node& node = *output.node();
  const std::size_t count = node.inputs().size();
  const Tensor gradient = make(context, std::vector<double>(static_cast<std::size_t>(output.count()), 1.0),
                               output.shape(), output.dtype());
  const NoGrad no_grad(context);
  for (std::size_t mask = 0; mask < (std::size_t{1} << count); ++mask) {
    std::vector<bool> wanted(count);
    bool possible = true;
    for (std::size_t i = 0; i < count; ++i) {
      wanted[i] = ((mask >> i) & 1) != 0;
      possible &= !wanted[i] || node.inputs()[i].wants_gradient();
    }
    if (!possible) continue;
    const std::vector<Tensor> gradients = node.backward(context, gradient, wanted);
    if (gradients.size() != count) return fmt::format("{} gradients for {} inputs", gradients.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      if (gradients[i].defined() != wanted[i]) {
        return fmt::format("{}: mask {}: the gradient of input {} is {}", node.name(), mask, i,
                           gradients[i].defined() ? "computed though not wanted" : "missing");
      }
    }
  }
  return "";
}

}  // namespace warpline::test
