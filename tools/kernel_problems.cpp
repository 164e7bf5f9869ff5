#include "tools/kernel_problems.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <random>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "kernels/error.h"

namespace warpline::tools {

namespace {

using namespace kernels;
using Sizes = std::vector<std::int64_t>;

template <class T>
Operand operand(const std::vector<T>& values, bool output) {
  Operand made{dtype_of<T>, std::vector<std::byte>(values.size() * sizeof(T)), output};
  std::memcpy(made.values.data(), values.data(), made.values.size());
  return made;
}

// Random numbers of -1..1, others for each operand.
Operand reals(std::int64_t count, bool output = false) {
  std::mt19937 generator(static_cast<std::uint32_t>(count));
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(generator() >> 8) * 0x1p-23F - 1;
  return operand(values, output);
}
Operand result(std::int64_t count) { return reals(count, true); }
Operand positives(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count), 0.5F);
  return operand(values, true);
}
Operand labels(std::int64_t count, std::int64_t classes) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i * 7919) % classes;
  return operand(values, false);
}
Operand bytes(std::int64_t count, std::uint8_t below, bool output) {
  std::vector<std::uint8_t> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i % below);
  return operand(values, output);
}
Operand no_error() { return operand(std::vector<std::int64_t>{-1, 0}, true); }
Operand absent() { return {DType::Float32, {}, false, true}; }

// Calls a row's function with the operands' pointers, the numbers and the stream.
template <class... Parameters>
void call(void (*function)(Parameters...), const std::vector<void*>& pointers, const auto& args,
          const Stream& stream) {
  using All = std::tuple<Parameters...>;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    function(static_cast<std::tuple_element_t<I, All>>(pointers[I])..., args, stream);
  }
  (std::make_index_sequence<sizeof...(Parameters) - 2>());
}

template <class Op>
Problem problem(const typename Op::Args& args, std::vector<Operand> operands, DType dtype = DType::Float32) {
  return {std::string(Op::name),
          "",
          dtype,
          std::move(operands),
          std::make_shared<typename Op::Args>(args),
          [args](const Row& row, const std::vector<void*>& pointers, const Stream& stream) {
            call(reinterpret_cast<typename Op::Function>(row.function), pointers, args, stream);
          }};
}

Problem gemm(const Sizes& s) {
  return problem<Gemm>({s[0], s[1], s[2]}, {reals(s[0] * s[2]), reals(s[2] * s[1]), result(s[0] * s[1])});
}

struct Convolution {
  Conv2dArgs args;
  std::int64_t x, weight, y;
};
Convolution convolution(const Sizes& s) {
  const std::int64_t out = s[2] - s[4] + 1;
  if (out < 1) fail<ValueError>("conv2d", "a kernel of {} does not fit an image of {}", s[4], s[2]);
  Conv2dArgs args;
  std::tie(args.batch, args.channels, args.height, args.width) = std::tuple(s[0], s[1], s[2], s[2]);
  std::tie(args.filters, args.kernel_h, args.kernel_w) = std::tuple(s[3], s[4], s[4]);
  args.out_h = args.out_w = out;
  return {args, s[0] * s[1] * s[2] * s[2], s[3] * s[1] * s[4] * s[4], s[0] * s[3] * out * out};
}
Problem conv2d_forward(const Sizes& s) {
  const Convolution c = convolution(s);
  return problem<Conv2dForward>(c.args, {reals(c.x), reals(c.weight), reals(s[3]), result(c.y)});
}
Problem conv2d_backward_input(const Sizes& s) {
  const Convolution c = convolution(s);
  return problem<Conv2dBackwardInput>(c.args, {reals(c.y), reals(c.weight), result(c.x)});
}
Problem conv2d_backward_weight(const Sizes& s) {
  const Convolution c = convolution(s);
  return problem<Conv2dBackwardWeight>(c.args, {reals(c.y), reals(c.x), result(c.weight)});
}
Problem conv2d_backward_bias(const Sizes& s) {
  const Convolution c = convolution(s);
  return problem<Conv2dBackwardBias>(c.args, {reals(c.y), result(s[3])});
}

struct Pooling {
  MaxPool2dArgs args;
  std::int64_t x, y;
  std::uint8_t cells;
};
Pooling pooling(const Sizes& s) {
  if (s[2] > 16 || s[2] > s[1])
    fail<ValueError>("max_pool2d", "a window of {} does not fit here: at most 16 and the image, {}", s[2],
                     s[1]);
  MaxPool2dArgs args;
  std::tie(args.planes, args.height, args.width) = std::tuple(s[0], s[1], s[1]);
  args.kernel_h = args.kernel_w = args.stride_h = args.stride_w = s[2];
  args.out_h = args.out_w = (s[1] - s[2]) / s[2] + 1;
  return {args, s[0] * s[1] * s[1], s[0] * args.out_h * args.out_w,
          static_cast<std::uint8_t>(std::min<std::int64_t>(s[2] * s[2], 255))};
}
Problem max_pool2d_forward(const Sizes& s) {
  const Pooling p = pooling(s);
  return problem<MaxPool2dForward>(p.args, {reals(p.x), result(p.y), bytes(p.y, p.cells, true)});
}
Problem max_pool2d_backward(const Sizes& s) {
  const Pooling p = pooling(s);
  return problem<MaxPool2dBackward>(p.args, {reals(p.y), bytes(p.y, p.cells, false), result(p.x)});
}
Problem max_pool2d_indices(const Sizes& s) {
  const Pooling p = pooling(s);
  return problem<MaxPool2dIndices>(
      p.args,
      {bytes(p.y, p.cells, false), operand(std::vector<std::int64_t>(static_cast<std::size_t>(p.y)), true)},
      DType::Int64);
}

Problem relu_forward(const Sizes& s) { return problem<ReluForward>({s[0]}, {reals(s[0]), result(s[0])}); }
Problem relu_backward(const Sizes& s) {
  return problem<ReluBackward>({s[0]}, {reals(s[0]), reals(s[0]), result(s[0])});
}
Problem scale(const Sizes& s) { return problem<Scale>({s[0], 0.5}, {reals(s[0]), result(s[0])}); }
Problem axpy(const Sizes& s) { return problem<Axpy>({s[0], 0.5}, {reals(s[0]), result(s[0])}); }
Problem fill(const Sizes& s) { return problem<Fill>({s[0], 0.5}, {result(s[0])}); }

Problem log_softmax_forward(const Sizes& s) {
  return problem<LogSoftmaxForward>({s[0], s[1], 1}, {reals(s[0] * s[1]), result(s[0] * s[1])});
}
Problem log_softmax_backward(const Sizes& s) {
  return problem<LogSoftmaxBackward>({s[0], s[1], 1},
                                     {reals(s[0] * s[1]), reals(s[0] * s[1]), result(s[0] * s[1])});
}
Problem max(const Sizes& s) {
  return problem<Max>({s[0], s[1], 1},
                      {reals(s[0] * s[1]), result(s[0]),
                       operand(std::vector<std::int64_t>(static_cast<std::size_t>(s[0])), true)});
}
NllArgs losses(const Sizes& s) { return {s[0], s[1], 1, -100, Reduction::Sum}; }
Problem nll_forward(const Sizes& s) {
  return problem<NllForward>(
      losses(s), {reals(s[0] * s[1]), labels(s[0], s[1]), absent(), result(1), result(1), no_error()});
}
Problem nll_backward(const Sizes& s) {
  return problem<NllBackward>(losses(s),
                              {reals(1), labels(s[0], s[1]), absent(), reals(1), result(s[0] * s[1])});
}
Problem cross_entropy_backward(const Sizes& s) {
  return problem<CrossEntropyBackward>(
      losses(s), {reals(1), reals(s[0] * s[1]), labels(s[0], s[1]), absent(), reals(1), result(s[0] * s[1])});
}

// One number a column of b.
BroadcastArgs bias(const Sizes& s) {
  BroadcastArgs args;
  args.dims = 2;
  args.shape = {s[0], s[1]};
  args.stride_a = {s[1], 1};
  args.stride_b = {0, 1};
  args.count = s[0] * s[1];
  return args;
}
Problem add(const Sizes& s) {
  return problem<Add>(bias(s), {reals(s[0] * s[1]), reals(s[1]), result(s[0] * s[1])});
}
Problem mul(const Sizes& s) {
  return problem<Mul>(bias(s), {reals(s[0] * s[1]), reals(s[1]), result(s[0] * s[1])});
}
Problem sum(const Sizes& s) {
  ReduceArgs args;
  args.dims = 2;
  args.shape = {s[0], s[1]};
  args.reduced = {false, true};
  return problem<Sum>(args, {reals(s[0] * s[1]), result(s[0])});
}

Problem sgd_step(const Sizes& s) {
  SgdArgs args;
  args.count = s[0];
  args.momentum = 0.9;
  return problem<SgdStep>(args, {reals(s[0]), result(s[0]), result(s[0])});
}
Problem adam_step(const Sizes& s) {
  AdamArgs args;
  args.count = s[0];
  return problem<AdamStep>(args, {reals(s[0]), result(s[0]), result(s[0]), positives(s[0])});
}

struct Family {
  std::string_view legend;
  std::vector<std::string> shapes;
};
const Family kMatrices{"m x n x k", {"128x128x128", "64x500x800", "512x512x512"}};
const Family kConvolutions{"batch x channels x size x filters x kernel",
                           {"8x1x28x20x5", "8x20x12x50x5", "64x20x12x50x5"}};
const Family kPoolings{"planes x size x window", {"160x24x2", "400x8x2", "64x24x3"}};
const Family kElements{"elements", {"10000", "1000000"}};
const Family kRows{"rows x classes", {"64x10", "100x1000", "10000x100"}};

struct Entry {
  std::string_view op;
  const Family* family;
  Problem (*make)(const Sizes&);
};
const std::vector<Entry>& entries() {
  static const std::vector<Entry> list{
      {Gemm::name, &kMatrices, gemm},
      {Conv2dForward::name, &kConvolutions, conv2d_forward},
      {Conv2dBackwardInput::name, &kConvolutions, conv2d_backward_input},
      {Conv2dBackwardWeight::name, &kConvolutions, conv2d_backward_weight},
      {Conv2dBackwardBias::name, &kConvolutions, conv2d_backward_bias},
      {MaxPool2dForward::name, &kPoolings, max_pool2d_forward},
      {MaxPool2dBackward::name, &kPoolings, max_pool2d_backward},
      {MaxPool2dIndices::name, &kPoolings, max_pool2d_indices},
      {ReluForward::name, &kElements, relu_forward},
      {ReluBackward::name, &kElements, relu_backward},
      {LogSoftmaxForward::name, &kRows, log_softmax_forward},
      {LogSoftmaxBackward::name, &kRows, log_softmax_backward},
      {NllForward::name, &kRows, nll_forward},
      {NllBackward::name, &kRows, nll_backward},
      {CrossEntropyBackward::name, &kRows, cross_entropy_backward},
      {Add::name, &kRows, add},
      {Mul::name, &kRows, mul},
      {Sum::name, &kRows, sum},
      {Max::name, &kRows, max},
      {Scale::name, &kElements, scale},
      {Axpy::name, &kElements, axpy},
      {Fill::name, &kElements, fill},
      {SgdStep::name, &kElements, sgd_step},
      {AdamStep::name, &kElements, adam_step},
  };
  return list;
}

const Entry& entry_of(std::string_view op) {
  for (const Entry& entry : entries()) {
    if (entry.op == op) return entry;
  }
  fail<ValueError>("kernel", "no op is called '{}'; there are {}", op, fmt::join(problem_ops(), ", "));
}

Sizes parse(const Entry& entry, const std::string& shape) {
  Sizes sizes;
  const char *at = shape.data(), *const end = at + shape.size();
  bool good = !shape.empty();
  while (good) {
    std::int64_t size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    good = error == std::errc{} && size >= 1 && size <= 100'000'000;
    sizes.push_back(size);
    if (!good || next == end) break;
    good = *next == 'x';
    at = next + 1;
  }
  const std::string& example = entry.family->shapes.front();
  const auto wanted = 1 + static_cast<std::size_t>(std::count(example.begin(), example.end(), 'x'));
  double cells = 1;
  for (const std::int64_t size : sizes) cells *= static_cast<double>(size);
  if (!good || sizes.size() != wanted || cells > 1e12) {
    fail<ValueError>("--shape", "{} takes {}, positive numbers as in {}; got '{}'", entry.op,
                     entry.family->legend, example, shape);
  }
  return sizes;
}

}  // namespace

std::vector<std::string_view> problem_ops() {
  std::vector<std::string_view> ops;
  for (const Entry& entry : entries()) ops.push_back(entry.op);
  return ops;
}

std::vector<std::string> problem_shapes(std::string_view op) { return entry_of(op).family->shapes; }
std::string_view shape_legend(std::string_view op) { return entry_of(op).family->legend; }

Problem make_problem(std::string_view op, const std::string& shape) {
  const Entry& entry = entry_of(op);
  Problem made = entry.make(parse(entry, shape));
  made.shape = shape;
  return made;
}

}  // namespace warpline::tools
