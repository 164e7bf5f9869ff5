// Where a row of layers is cut into stages. A cut is a list of the first layer of every stage but the first:
// {3, 7} cuts 10 layers into 0..2, 3..6, 7..9. Cuts change who computes what, never the bits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/nn/module.h"

namespace warpline::parallel {

// All of these: ValueError where there are more stages than layers, or fewer than 1.

// Sizes differ by at most one, larger first.
std::vector<int> cut_by_count(int layers, int stages);
// The largest stage costs as little as possible (exact, dynamic programming); of equal ones the cuts that
// come first.
std::vector<int> cut_by_cost(const std::vector<double>& costs, int stages);
// "3,fc1": layers by number or by name. ValueError names the entry and, for a name, all layers.
std::vector<int> parse_cuts(const Sequential& model, std::string_view text);
// ValueError unless every stage has at least one layer.
void check_cuts(const std::vector<int>& cuts, int layers);

// Layers [begin, end) of each stage.
struct Layers {
  int begin = 0, end = 0;
};
std::vector<Layers> stages_of(const std::vector<int>& cuts, int layers);

// Cost of each layer from its shapes alone, so that the same command always makes the same cut: multiply-adds
// of its weights, and a few for each element that it reads or writes.
std::vector<double> estimate_costs(const Sequential& model, const Shape& sample_shape);
// Cost of each layer as it runs here, in seconds: the fastest of `repeats` forward and backward passes of
// `samples` samples. Materialises layers one at a time and lets them go again.
std::vector<double> measure_costs(Context& context, const Sequential& model, const Shape& sample_shape,
                                  int samples = 16, int repeats = 3);

}  // namespace warpline::parallel
