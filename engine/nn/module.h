// A layer. Building one is cheap and touches no device: it is a description that can tell its output shape.
// Only the rank that holds the layer materialises its parameters, whose first values depend on seed and name
// alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/shape.h"
#include "engine/tensor.h"
#include "kernels/dtype.h"

namespace warpline {

struct Parameter {
  std::string name;  // full name within the model: "conv1.weight"
  Shape shape;
  double init_bound = 0.0;  // uniform in [-bound, bound]; PyTorch's default is 1 / sqrt(fan in)
  Tensor value;             // undefined until materialised; then a leaf that requires a gradient
};

// PyTorch's default bound of a layer whose outputs each sum over fan_in inputs: 1 / sqrt(fan_in), and 0 for
// 0.
double default_init_bound(std::int64_t fan_in);

// The parameter's value. AutogradError naming the parameter where it has none yet.
const Tensor& materialised(const Parameter& parameter);

class Module {
 public:
  virtual ~Module() = default;
  virtual std::string describe() const = 0;  // "Conv2d(1, 20, kernel 5x5)"
  // Throws ShapeError naming the layer when x does not fit.
  virtual Shape output_shape(const Shape& input) const = 0;
  virtual Tensor forward(Context& context, const Tensor& x) const = 0;
  virtual std::vector<Parameter*> parameters() { return {}; }
  std::int64_t parameter_count();  // elements
  // Allocates and fills every parameter: Philox keyed by (seed, name). float32 values are those of float64,
  // rounded.
  void materialise(Context& context, std::uint64_t seed, DType dtype = DType::Float32);
};

// Named layers in a row. slice() is what a pipeline stage holds: it shares the layers and keeps their names.
class Sequential final : public Module {
 public:
  // Parameters of `layer` become "<name>.<own name>". Throws ValueError for a name that is taken or holds a
  // dot.
  Sequential& add(std::string name, std::shared_ptr<Module> layer);
  std::string describe() const override;
  Shape output_shape(const Shape& input) const override;
  Tensor forward(Context& context, const Tensor& x) const override;
  std::vector<Parameter*> parameters() override;

  int size() const { return static_cast<int>(layers_.size()); }
  const std::string& name(int i) const { return layers_[static_cast<std::size_t>(i)].name; }
  const Module& layer(int i) const { return *layers_[static_cast<std::size_t>(i)].module; }
  Sequential slice(int begin, int end) const;  // layers [begin, end); throws ValueError outside

 private:
  struct Layer {
    std::string name;
    std::shared_ptr<Module> module;
  };
  std::vector<Layer> layers_;
};

}  // namespace warpline
