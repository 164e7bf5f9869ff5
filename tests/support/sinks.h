// Gradient sinks that tests look into.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/autograd.h"
#include "kernels/error.h"

namespace warpline::test {

// Logs leaves by name and passes their gradients on.
class LoggingSink final : public GradientSink {
 public:
  explicit LoggingSink(std::vector<std::string>& log) : log_(log) {}
  void accept(Context& context, const Tensor& leaf, Tensor gradient) override {
    log_.push_back(leaf.name());
    AccumulateGrad().accept(context, leaf, std::move(gradient));
  }

 private:
  std::vector<std::string>& log_;
};

// Takes nothing.
class FullSink final : public GradientSink {
 public:
  void accept(Context&, const Tensor&, Tensor) override { fail<Failure>("test", "the sink is full"); }
};

}  // namespace warpline::test
