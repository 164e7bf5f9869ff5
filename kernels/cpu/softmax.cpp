// Log-softmax, the gradient of cross-entropy and the maximum along an axis: rows of outer x classes x inner,
// gathered where inner > 1.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/split.h"

namespace warpline::kernels::cpu {

namespace {

// body(offset of element 0) for each row; elements of a row are args.inner apart.
template <class Body>
void each_row(const AxisArgs& args, const Stream& stream, const Body& body) {
  const std::int64_t rows = args.outer * args.inner;
  // exp is some 10 times the work of an element-wise op.
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / 10 / std::max<std::int64_t>(1, args.classes));
  split(stream, rows, grain, [&](Range range, int) {
    for (std::int64_t row = range.begin; row < range.end; ++row) {
      body(row / args.inner * args.classes * args.inner + row % args.inner, row);
    }
  });
}

}  // namespace

// The largest element is taken out first. Infinity and NaN go their way: inf - inf spreads NaN over the row.
void log_softmax_forward(const float* x, float* y, const AxisArgs& args, const Stream& stream) {
  const std::int64_t step = args.inner, end = args.classes * step;
  each_row(args, stream, [&](std::int64_t at, std::int64_t) {
    const float* const from = x + at;
    float largest = -INFINITY;
    for (std::int64_t i = 0; i < end; i += step) largest = std::max(largest, from[i]);
    double sum = 0;
    for (std::int64_t i = 0; i < end; i += step) sum += static_cast<double>(std::exp(from[i] - largest));
    const auto log_sum = static_cast<float>(std::log(sum));
    for (std::int64_t i = 0; i < end; i += step) y[at + i] = from[i] - largest - log_sum;
  });
}

void log_softmax_backward(const float* dy, const float* y, float* dx, const AxisArgs& args,
                          const Stream& stream) {
  const std::int64_t step = args.inner, end = args.classes * step;
  each_row(args, stream, [&](std::int64_t at, std::int64_t) {
    double sum = 0;
    for (std::int64_t i = 0; i < end; i += step) sum += static_cast<double>(dy[at + i]);
    const auto total = static_cast<float>(sum);
    for (std::int64_t i = at; i < at + end; i += step) dx[i] = dy[i] - std::exp(y[i]) * total;
  });
}

// An ignored row gets 0 whatever it holds; a label out of range has been reported by the forward pass.
void cross_entropy_backward(const float* dloss, const float* log_probability, const std::int64_t* target,
                            const float* class_weight, const float* total_weight, float* dx,
                            const NllArgs& args, const Stream& stream) {
  const std::int64_t step = args.inner, end = args.classes * step;
  each_row({args.outer, args.classes, args.inner}, stream, [&](std::int64_t at, std::int64_t row) {
    const std::int64_t label = target[row];
    if (label == args.ignore_index || label < 0 || label >= args.classes) {
      for (std::int64_t i = at; i < at + end; i += step) dx[i] = 0;
      return;
    }
    float gradient = dloss[args.reduction == Reduction::None ? row : 0];
    if (args.reduction == Reduction::Mean) gradient /= *total_weight;
    if (class_weight != nullptr) gradient *= class_weight[label];
    for (std::int64_t i = at; i < at + end; i += step) dx[i] = gradient * std::exp(log_probability[i]);
    dx[at + label * step] -= gradient;
  });
}

void max(const float* x, float* values, std::int64_t* indices, const AxisArgs& args, const Stream& stream) {
  each_row(args, stream, [&](std::int64_t at, std::int64_t row) {
    float best = x[at];
    std::int64_t index = 0;
    for (std::int64_t i = 1; i < args.classes && !std::isnan(best); ++i) {
      const float value = x[at + i * args.inner];
      if (value > best || std::isnan(value)) {
        best = value;
        index = i;
      }
    }
    values[row] = best;
    indices[row] = index;
  });
}

}  // namespace warpline::kernels::cpu
