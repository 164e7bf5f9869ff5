#include <utility>

#include "engine/nn/module.h"
#include "kernels/error.h"

namespace warpline {
namespace {

// Runs `body`; what refuses a shape says which layer it is.
template <class Body>
auto named(const std::string& name, const Body& body) {
  try {
    return body();
  } catch (const ShapeError& error) {
    throw ShapeError(fmt::format("layer {}: {}", name, error.what()));
  } catch (const ValueError& error) {
    throw ValueError(fmt::format("layer {}: {}", name, error.what()));
  }
}

}  // namespace

Sequential& Sequential::add(std::string name, std::shared_ptr<Module> layer) {
  if (layer == nullptr) fail<ValueError>("Sequential", "layer {} is null", name);
  if (name.empty() || name.find('.') != std::string::npos) {
    fail<ValueError>("Sequential", "a layer's name must not be empty or hold a dot: \"{}\"", name);
  }
  for (const Layer& other : layers_) {
    if (other.name == name) {
      fail<ValueError>("Sequential", "names must differ: {} is taken by {}", name, other.module->describe());
    }
    if (other.module == layer && !layer->parameters().empty()) {
      fail<ValueError>("Sequential", "a layer with parameters has one name: {} is {} already", name,
                       other.name);
    }
  }
  for (Parameter* parameter : layer->parameters()) parameter->name = name + "." + parameter->name;
  layers_.push_back({std::move(name), std::move(layer)});
  return *this;
}

std::string Sequential::describe() const {
  std::string text = "Sequential(";
  for (const Layer& layer : layers_) {
    if (&layer != layers_.data()) text += ", ";
    text += layer.name + ": " + layer.module->describe();
  }
  return text + ")";
}

Shape Sequential::output_shape(const Shape& input) const {
  Shape shape = input;
  for (const Layer& layer : layers_) {
    shape = named(layer.name, [&] { return layer.module->output_shape(shape); });
  }
  return shape;
}

Tensor Sequential::forward(Context& context, const Tensor& x) const {
  Tensor y = x;
  for (const Layer& layer : layers_) {
    y = named(layer.name, [&] { return layer.module->forward(context, y); });
  }
  return y;
}

std::vector<Parameter*> Sequential::parameters() {
  std::vector<Parameter*> all;
  for (const Layer& layer : layers_) {
    const std::vector<Parameter*> own = layer.module->parameters();
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

Sequential Sequential::slice(int begin, int end) const {
  if (begin < 0 || end < begin || end > size()) {
    fail<ValueError>("Sequential", "a slice lies within the {} layers: [{}, {})", size(), begin, end);
  }
  Sequential part;
  part.layers_.assign(layers_.begin() + begin, layers_.begin() + end);
  return part;
}

}  // namespace warpline
