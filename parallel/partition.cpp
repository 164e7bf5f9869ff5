#include "parallel/partition.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>

#include "engine/autograd.h"
#include "kernels/error.h"

namespace warpline::parallel {
namespace {

// An element-wise layer is bound by memory: an element that it reads or writes takes about as long as this
// many multiply-adds of a convolution or matrix product.
constexpr double kMultiplyAddsPerElement = 8;

void check_stages(int layers, int stages) {
  if (stages < 1) fail<ValueError>("partition", "{} stages; there must be at least 1", stages);
  if (stages > layers) {
    fail<ValueError>("partition", "{} stages for {} layers: every stage needs a layer; use at most {} stages",
                     stages, layers, layers);
  }
}

// Takes gradients and lets them go.
class Discard final : public GradientSink {
 public:
  void accept(Context&, const Tensor&, Tensor) override {}
};

Shape with_samples(const Shape& sample_shape, std::int64_t samples) {
  Shape shape = sample_shape;
  shape.insert(shape.begin(), samples);
  return shape;
}

int parse_layer(const Sequential& model, std::string_view text) {
  for (int i = 0; i < model.size(); ++i) {
    if (model.name(i) == text) return i;
  }
  const bool number = !text.empty() && text.size() <= 6 &&
                      std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (number) return std::stoi(std::string(text));
  std::string names;
  for (int i = 0; i < model.size(); ++i) names += (i == 0 ? "" : ", ") + model.name(i);
  fail<ValueError>("partition", "'{}' is no layer; use its number (0 to {}) or its name: {}", text,
                   model.size() - 1, names);
}

}  // namespace

std::vector<int> cut_by_count(int layers, int stages) {
  check_stages(layers, stages);
  std::vector<int> cuts;
  for (int j = 1; j < stages; ++j) {
    cuts.push_back(layers / stages * j + std::min(j, layers % stages));
  }
  return cuts;
}

// best[j][i]: least possible cost of the largest of j + 1 stages that hold the layers from i on.
std::vector<int> cut_by_cost(const std::vector<double>& costs, int stages) {
  const int layers = static_cast<int>(costs.size());
  check_stages(layers, stages);
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  std::vector<double> before(at(layers + 1), 0.0);
  std::partial_sum(costs.begin(), costs.end(), before.begin() + 1);
  const auto cost = [&](int begin, int end) { return before[at(end)] - before[at(begin)]; };
  std::vector<std::vector<double>> best(
      at(stages), std::vector<double>(at(layers + 1), std::numeric_limits<double>::infinity()));
  for (int i = 0; i < layers; ++i) best[0][at(i)] = cost(i, layers);
  for (int j = 1; j < stages; ++j) {
    for (int i = 0; i + j < layers; ++i) {
      for (int cut = i + 1; cut + j <= layers; ++cut) {
        const double largest = std::max(cost(i, cut), best[at(j - 1)][at(cut)]);
        best[at(j)][at(i)] = std::min(best[at(j)][at(i)], largest);
      }
    }
  }
  std::vector<int> cuts;
  int begin = 0;
  for (int j = stages - 1; j > 0; --j) {
    int cut = begin + 1;
    while (std::max(cost(begin, cut), best[at(j - 1)][at(cut)]) > best[at(stages - 1)][0]) ++cut;
    cuts.push_back(begin = cut);
  }
  return cuts;
}

std::vector<int> parse_cuts(const Sequential& model, std::string_view text) {
  std::vector<int> cuts;
  while (true) {
    const std::size_t comma = text.find(',');
    cuts.push_back(parse_layer(model, text.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  check_cuts(cuts, model.size());
  return cuts;
}

void check_cuts(const std::vector<int>& cuts, int layers) {
  check_stages(layers, static_cast<int>(cuts.size()) + 1);
  int before = 0;
  for (const int cut : cuts) {
    if (cut <= before || cut >= layers) {
      fail<ValueError>("partition",
                       "cut at layer {} after layer {}: cuts must increase and lie between 1 and {}, so that "
                       "every stage has a layer",
                       cut, before, layers - 1);
    }
    before = cut;
  }
}

std::vector<Layers> stages_of(const std::vector<int>& cuts, int layers) {
  std::vector<Layers> stages;
  int begin = 0;
  for (const int cut : cuts) {
    stages.push_back({begin, cut});
    begin = cut;
  }
  stages.push_back({begin, layers});
  return stages;
}

// Every use of a weight element is one multiply-add: weights [out, ...] are used whole for each group of
// `out` outputs, whether they belong to a linear layer or to a convolution.
std::vector<double> estimate_costs(const Sequential& model, const Shape& sample_shape) {
  std::vector<double> costs;
  Shape shape = with_samples(sample_shape, 1);
  for (int i = 0; i < model.size(); ++i) {
    const Shape output = model.layer(i).output_shape(shape);
    const auto outputs = static_cast<double>(element_count(output));
    double cost = kMultiplyAddsPerElement * (static_cast<double>(element_count(shape)) + outputs);
    for (const Parameter* parameter : model.slice(i, i + 1).parameters()) {
      if (parameter->shape.empty() || parameter->shape[0] == 0) continue;
      cost += static_cast<double>(element_count(parameter->shape)) * outputs /
              static_cast<double>(parameter->shape[0]);
    }
    costs.push_back(cost);
    shape = output;
  }
  return costs;
}

std::vector<double> measure_costs(Context& context, const Sequential& model, const Shape& sample_shape,
                                  int samples, int repeats) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> costs;
  Shape shape = with_samples(sample_shape, samples);
  Discard discard;
  for (int i = 0; i < model.size(); ++i) {
    Sequential layer = model.slice(i, i + 1);
    layer.materialise(context, 1);
    double fastest = std::numeric_limits<double>::infinity();
    for (int repeat = 0; repeat < repeats; ++repeat) {
      Tensor input = Tensor::full(context, shape, 0.5);
      if (i > 0) input.set_requires_grad();
      context.synchronize();
      const Clock::time_point start = Clock::now();
      const Tensor output = layer.forward(context, input);
      if (output.requires_grad()) {
        backward(context, {output}, {Tensor::full(context, output.shape(), 1.0)},
                 {.boundary = {input}, .sink = &discard});
      }
      context.synchronize();
      fastest = std::min(fastest, std::chrono::duration<double>(Clock::now() - start).count());
    }
    costs.push_back(fastest);
    for (Parameter* parameter : layer.parameters()) parameter->value = Tensor();
    shape = model.layer(i).output_shape(shape);
  }
  return costs;
}

}  // namespace warpline::parallel
