// Tensors from lists of numbers and back, whatever the dtype and device, and inputs that make wrong code
// show.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/tensor.h"

namespace warpline::test {

Tensor make(Context& context, const std::vector<double>& values, const Shape& shape,
            DType dtype = DType::Float32);
std::vector<double> values(const Tensor& tensor);

// Small whole numbers, -5..5: sums of products are exact in float32, so any order gives the same bits.
// Element i is (3 i i + 7 i + 5 salt) mod 11 - 5.
std::vector<double> pattern(std::int64_t count, std::int64_t salt);
Tensor pattern(Context& context, const Shape& shape, std::int64_t salt, DType dtype = DType::Float32);

// Numbers without structure in [-1, 1).
std::vector<double> noise(std::int64_t count, std::int64_t salt);
// Different numbers in shuffled order, none nearer than 0.025 to another one or to 0: away from every kink.
std::vector<double> spread(std::int64_t count, std::int64_t salt);

// "" where all elements agree within the tolerance (NaN with NaN), else the first that does not.
std::string difference(const std::vector<double>& actual, const std::vector<double>& expected,
                       double tolerance = 0.0);

// Runs `body` with a context (two threads) on each kind of device, and prints which ran.
void on_each_device(const std::string& what, const std::function<void(Context&)>& body);

// Checks that `run` returns the same numbers on each kind of device as on `ref`.
using Lists = std::vector<std::vector<double>>;
void check_against_ref(const std::function<Lists(Context&)>& run);

}  // namespace warpline::test
