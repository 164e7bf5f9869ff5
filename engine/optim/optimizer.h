// What every optimiser shares: the parameters that it updates from their gradients, and state that is saved
// and restored as named tensors. A rank that holds part of a model saves and restores just that part.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/nn/module.h"
#include "engine/tensor.h"

namespace warpline {

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  virtual std::string_view name() const = 0;  // "sgd"

  // Updates every parameter that has a gradient, in the order given; one without is skipped, weight decay
  // too. Gradients stay. Everything is checked and allocated before the first parameter changes.
  void step(Context& context);
  void zero_grad();  // clears every gradient

  double lr() const { return lr_; }
  void set_lr(double lr);  // ValueError unless finite and not negative

  // What follows "<parameter>." in the names of its state, once it was updated: "momentum_buffer".
  std::vector<std::string> state_names() const;
  // "<parameter>.momentum_buffer" and so on for parameters that were updated at least once, as copies on the
  // context's device. "<parameter>.step" is an int64 scalar.
  std::map<std::string, Tensor> state(Context& context) const;
  // Takes what belongs to its own parameters, from any device; other names are passed over, and a parameter
  // of which nothing is given starts anew. ValueError, ShapeError or DTypeError naming the tensor that is
  // missing or does not fit; nothing is changed then.
  void load_state(Context& context, const std::map<std::string, Tensor>& state);

 protected:
  struct Slot {
    Parameter* parameter = nullptr;
    std::vector<Tensor> buffers;  // empty before the first update
    std::int64_t steps = 0;       // updates made
  };

  // buffer_names: what an update remembers, in Slot::buffers' order; they start as zeros. saves_steps: does
  // it need the number of updates? ValueError for a parameter that is null or given twice.
  Optimizer(const std::vector<Parameter*>& parameters, double lr, std::vector<std::string> buffer_names,
            bool saves_steps);

  // DTypeError where no kernel of the device updates such parameters.
  virtual void check_kernel(Device device, DType dtype) const = 0;
  // One parameter, one launch. slot.steps counts this update already.
  virtual void update(Context& context, const Tensor& gradient, const Slot& slot) = 0;

 private:
  std::vector<Slot> slots_;
  double lr_;
  std::vector<std::string> buffer_names_;
  bool saves_steps_;
};

// ValueError naming the option unless it is finite and not negative.
void check_rate(std::string_view optimizer, std::string_view option, double value);

}  // namespace warpline
