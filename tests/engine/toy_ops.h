// Ops for tests of the engine itself: float64, plain loops, and nodes that log what they are asked for.
#pragma once

#include <string>
#include <vector>

#include "engine/autograd.h"
#include "engine/inplace.h"
#include "engine/node.h"

namespace warpline::test {

inline constexpr Device kRef{DeviceKind::Ref, 0};  // the target that adds float64

inline double* values(const Tensor& tensor) { return static_cast<double*>(tensor.data()); }

inline Tensor leaf(Context& context, std::vector<double> data, Shape shape = {}) {
  if (shape.empty() && data.size() != 1) shape = {static_cast<std::int64_t>(data.size())};
  Tensor tensor = Tensor::from_host(context, data, shape);
  tensor.set_requires_grad();
  return tensor;
}

inline std::vector<double> grad_of(const Tensor& tensor) { return tensor.grad().to_host<double>(); }

// Of a scalar, with the gradient 1.
inline void backward_of(Context& context, const Tensor& output, const BackwardOptions& options = {}) {
  backward(context, {output}, {Tensor()}, options);
}

template <class F>
Tensor map(Context& context, const Tensor& a, const Tensor& b, F f) {
  Tensor y = Tensor::empty(context, a.shape(), DType::Float64);
  for (std::int64_t i = 0; i < a.count(); ++i) values(y)[i] = f(values(a)[i], values(b)[i]);
  return y;
}

// "mul 10": which gradients a toy node was asked for, in the order of the calls.
inline std::vector<std::string>& calls() {
  static std::vector<std::string> log;
  return log;
}

inline void log_call(std::string_view name, const std::vector<bool>& wanted) {
  std::string text = std::string(name) + " ";
  for (const bool flag : wanted) text += flag ? '1' : '0';
  calls().push_back(text);
}

class MulNode final : public Node {
 public:
  MulNode(const Tensor& a, const Tensor& b) : a_(a), b_(b) {}
  std::string_view name() const override { return "mul"; }
  std::vector<Tensor> backward(Context& context, const Tensor& gradient,
                               const std::vector<bool>& wanted) override {
    log_call(name(), wanted);
    std::vector<Tensor> gradients(2);
    const auto times = [](double a, double b) { return a * b; };
    if (wanted[0]) gradients[0] = map(context, gradient, b_.get(name()), times);
    if (wanted[1]) gradients[1] = map(context, gradient, a_.get(name()), times);
    return gradients;
  }
  std::vector<SavedTensor*> saved() override { return {&a_, &b_}; }

 private:
  SavedTensor a_, b_;
};

inline Tensor mul(Context& context, const Tensor& a, const Tensor& b) {
  Tensor y = map(context, a, b, [](double p, double q) { return p * q; });
  record<MulNode>(context, y, {&a, &b}, save_if(b, a), save_if(a, b));
  return y;
}

// Saves nothing, and hands one and the same tensor to both inputs.
class AddNode final : public Node {
 public:
  std::string_view name() const override { return "add"; }
  std::vector<Tensor> backward(Context&, const Tensor& gradient, const std::vector<bool>& wanted) override {
    log_call(name(), wanted);
    return {gradient, gradient};
  }
};

inline Tensor add(Context& context, const Tensor& a, const Tensor& b) {
  Tensor y = map(context, a, b, [](double p, double q) { return p + q; });
  record<AddNode>(context, y, {&a, &b});
  return y;
}

// y = exp(x) keeps its own output.
class ExpNode final : public Node {
 public:
  explicit ExpNode(const Tensor& y) : y_(y) {}
  std::string_view name() const override { return "exp"; }
  std::vector<Tensor> backward(Context& context, const Tensor& gradient,
                               const std::vector<bool>& wanted) override {
    log_call(name(), wanted);
    return {map(context, gradient, y_.get(name()), [](double g, double y) { return g * y; })};
  }
  std::vector<SavedTensor*> saved() override { return {&y_}; }

 private:
  SavedTensor y_;
};

inline Tensor exp(Context& context, const Tensor& x) {
  Tensor y = map(context, x, x, [](double p, double) { return __builtin_exp(p); });
  record<ExpNode>(context, y, {&x}, y);
  return y;
}

class SumNode final : public Node {
 public:
  explicit SumNode(Shape shape) : shape_(std::move(shape)) {}
  std::string_view name() const override { return "sum"; }
  std::vector<Tensor> backward(Context& context, const Tensor& gradient,
                               const std::vector<bool>& wanted) override {
    log_call(name(), wanted);
    return {Tensor::full(context, shape_, gradient.item(), DType::Float64)};
  }

 private:
  Shape shape_;
};

inline Tensor sum(Context& context, const Tensor& x) {
  Tensor y = Tensor::zeros(context, {}, DType::Float64);
  for (std::int64_t i = 0; i < x.count(); ++i) values(y)[0] += values(x)[i];
  record<SumNode>(context, y, {&x}, x.shape());
  return y;
}

}  // namespace warpline::test
