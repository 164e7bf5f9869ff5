#include "tools/kernel_problems.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <random>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "kernels/error.h"
#include "kernels/tolerance.h"

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

// The operands of one problem, drawn one after another.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : generator_(seed) {}

  // Numbers of -1..1.
  Operand reals(std::int64_t count, bool output = false) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = static_cast<float>(generator_() >> 40) * 0x1p-23F - 1;
    return operand(values, output);
  }
  Operand result(std::int64_t count) { return reals(count, true); }
  Operand bytes(std::int64_t count, std::uint8_t below, bool output) {
    std::vector<std::uint8_t> values(static_cast<std::size_t>(count));
    for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(generator_() % below);
    return operand(values, output);
  }
  Operand labels(std::int64_t count, std::int64_t classes) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(count));
    for (std::int64_t& value : values) value = static_cast<std::int64_t>(generator_() >> 1) % classes;
    return operand(values, false);
  }

 private:
  std::mt19937_64 generator_;
};

Operand positives(std::int64_t count) {
  return operand(std::vector<float>(static_cast<std::size_t>(count), 0.5F), true);
}
Operand indices(std::int64_t count) {
  return operand(std::vector<std::int64_t>(static_cast<std::size_t>(count)), true);
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

// tolerance: of the float results.
template <class Op>
Problem problem(const typename Op::Args& args, std::vector<Operand> operands, double tolerance,
                DType dtype = DType::Float32) {
  Problem made;
  made.op = Op::name;
  made.dtype = dtype;
  made.operands = std::move(operands);
  made.tolerance = tolerance;
  for (const Operand& operand : made.operands) made.bytes += static_cast<double>(operand.values.size());
  made.args = std::make_shared<typename Op::Args>(args);
  made.run = [args](const Row& row, const std::vector<void*>& pointers, const Stream& stream) {
    call(reinterpret_cast<typename Op::Function>(row.function), pointers, args, stream);
  };
  return made;
}

// So many terms of at most that size each.
double sum_of(std::int64_t terms, double largest = 1) { return sum_tolerance<float>(terms, largest); }
constexpr double kExact = 0;

Problem gemm(const Sizes& s, Draw& draw) {
  return problem<Gemm>({s[0], s[1], s[2], s[3] != 0, s[4] != 0},
                       {draw.reals(s[0] * s[2]), draw.reals(s[2] * s[1]), draw.result(s[0] * s[1])},
                       sum_of(s[2]));
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
Problem conv2d_forward(const Sizes& s, Draw& draw) {
  const Convolution c = convolution(s);
  return problem<Conv2dForward>(c.args,
                                {draw.reals(c.x), draw.reals(c.weight), draw.reals(s[3]), draw.result(c.y)},
                                sum_of(s[1] * s[4] * s[4] + 1));
}
Problem conv2d_backward_input(const Sizes& s, Draw& draw) {
  const Convolution c = convolution(s);
  return problem<Conv2dBackwardInput>(c.args, {draw.reals(c.y), draw.reals(c.weight), draw.result(c.x)},
                                      sum_of(s[3] * s[4] * s[4]));
}
Problem conv2d_backward_weight(const Sizes& s, Draw& draw) {
  const Convolution c = convolution(s);
  return problem<Conv2dBackwardWeight>(c.args, {draw.reals(c.y), draw.reals(c.x), draw.result(c.weight)},
                                       sum_of(c.y / s[3]));
}
Problem conv2d_backward_bias(const Sizes& s, Draw& draw) {
  const Convolution c = convolution(s);
  return problem<Conv2dBackwardBias>(c.args, {draw.reals(c.y), draw.result(s[3])}, sum_of(c.y / s[3]));
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
Problem max_pool2d_forward(const Sizes& s, Draw& draw) {
  const Pooling p = pooling(s);
  return problem<MaxPool2dForward>(
      p.args, {draw.reals(p.x), draw.result(p.y), draw.bytes(p.y, p.cells, true)}, kExact);
}
// Windows do not overlap: nothing is added.
Problem max_pool2d_backward(const Sizes& s, Draw& draw) {
  const Pooling p = pooling(s);
  return problem<MaxPool2dBackward>(
      p.args, {draw.reals(p.y), draw.bytes(p.y, p.cells, false), draw.result(p.x)}, kExact);
}
Problem max_pool2d_indices(const Sizes& s, Draw& draw) {
  const Pooling p = pooling(s);
  return problem<MaxPool2dIndices>(p.args, {draw.bytes(p.y, p.cells, false), indices(p.y)}, kExact,
                                   DType::Int64);
}

Problem relu_forward(const Sizes& s, Draw& draw) {
  return problem<ReluForward>({s[0]}, {draw.reals(s[0]), draw.result(s[0])}, kExact);
}
Problem relu_backward(const Sizes& s, Draw& draw) {
  return problem<ReluBackward>({s[0]}, {draw.reals(s[0]), draw.reals(s[0]), draw.result(s[0])}, kExact);
}
Problem scale(const Sizes& s, Draw& draw) {
  return problem<Scale>({s[0], 0.7}, {draw.reals(s[0]), draw.result(s[0])}, sum_of(0));
}
Problem axpy(const Sizes& s, Draw& draw) {
  return problem<Axpy>({s[0], 0.7}, {draw.reals(s[0]), draw.result(s[0])}, sum_of(2));
}
Problem fill(const Sizes& s, Draw& draw) { return problem<Fill>({s[0], 0.5}, {draw.result(s[0])}, kExact); }

// Forward: the logarithm of a sum that is larger than each of its terms, which is added to numbers smaller
// than 2 + log(classes).
Problem log_softmax_forward(const Sizes& s, Draw& draw) {
  const double largest = 2 + std::log(static_cast<double>(s[1]));
  return problem<LogSoftmaxForward>({s[0], s[1], 1}, {draw.reals(s[0] * s[1]), draw.result(s[0] * s[1])},
                                    sum_of(s[1]) + sum_of(0, largest));
}
// A sum times exp(y), which is smaller than 3.
Problem log_softmax_backward(const Sizes& s, Draw& draw) {
  return problem<LogSoftmaxBackward>(
      {s[0], s[1], 1}, {draw.reals(s[0] * s[1]), draw.reals(s[0] * s[1]), draw.result(s[0] * s[1])},
      sum_of(s[1], 3));
}
Problem max(const Sizes& s, Draw& draw) {
  return problem<Max>({s[0], s[1], 1}, {draw.reals(s[0] * s[1]), draw.result(s[0]), indices(s[0])}, kExact);
}
NllArgs losses(const Sizes& s) { return {s[0], s[1], 1, -100, Reduction::Sum}; }
Problem nll_forward(const Sizes& s, Draw& draw) {
  Problem made = problem<NllForward>(losses(s),
                                     {draw.reals(s[0] * s[1]), draw.labels(s[0], s[1]), absent(),
                                      draw.result(1), draw.result(1), no_error()},
                                     sum_of(s[0]));
  made.bytes -= static_cast<double>(s[0] * (s[1] - 1)) * sizeof(float);  // it reads one number a row
  return made;
}
Problem nll_backward(const Sizes& s, Draw& draw) {
  return problem<NllBackward>(
      losses(s), {draw.reals(1), draw.labels(s[0], s[1]), absent(), draw.reals(1), draw.result(s[0] * s[1])},
      sum_of(0));
}
Problem cross_entropy_backward(const Sizes& s, Draw& draw) {
  return problem<CrossEntropyBackward>(losses(s),
                                       {draw.reals(1), draw.reals(s[0] * s[1]), draw.labels(s[0], s[1]),
                                        absent(), draw.reals(1), draw.result(s[0] * s[1])},
                                       sum_of(0, 3));
}

// b is a whole matrix, or one row that all rows of a share.
template <class Op>
Problem broadcast(const Sizes& s, Draw& draw, double tolerance) {
  if (s[2] != 1 && s[2] != s[0])
    fail<ValueError>(Op::name, "b has as many rows as a, {}, or one; got {}", s[0], s[2]);
  BroadcastArgs args;
  args.dims = 2;
  args.shape = {s[0], s[1]};
  args.stride_a = {s[1], 1};
  args.stride_b = {s[2] == 1 ? 0 : s[1], 1};
  args.count = s[0] * s[1];
  return problem<Op>(args, {draw.reals(args.count), draw.reals(s[2] * s[1]), draw.result(args.count)},
                     tolerance);
}
Problem add(const Sizes& s, Draw& draw) { return broadcast<Add>(s, draw, sum_of(0, 2)); }
Problem mul(const Sizes& s, Draw& draw) { return broadcast<Mul>(s, draw, sum_of(0)); }
Problem sum(const Sizes& s, Draw& draw) {
  ReduceArgs args;
  args.dims = 3;
  args.shape = {s[0], s[1], s[2]};
  args.reduced = {false, true, false};
  return problem<Sum>(args, {draw.reals(s[0] * s[1] * s[2]), draw.result(s[0] * s[2])}, sum_of(s[1]));
}

Problem sgd_step(const Sizes& s, Draw& draw) {
  SgdArgs args;
  args.count = s[0];
  args.momentum = 0.9;
  return problem<SgdStep>(args, {draw.reals(s[0]), draw.result(s[0]), draw.result(s[0])}, sum_of(2));
}
Problem adam_step(const Sizes& s, Draw& draw) {
  AdamArgs args;
  args.count = s[0];
  return problem<AdamStep>(args, {draw.reals(s[0]), draw.result(s[0]), draw.result(s[0]), positives(s[0])},
                           sum_of(2));
}

// Those of `net` on MNIST at a batch of 64, beside smaller and larger ones.
struct Family {
  std::string_view legend;
  std::vector<std::string> shapes;
  bool transposes = false;  // two more numbers, 0 or 1, after the sizes
};
const Family kMatrices{
    "m x n x k",
    {"128x128x128", "64x10x500-nt", "64x500x800-nt", "64x800x500", "500x800x64-tn", "512x512x512"},
    true};
const Family kConvolutions{"batch x channels x size x filters x kernel",
                           {"8x1x28x20x5", "8x20x12x50x5", "64x1x28x20x5", "64x20x12x50x5"}};
const Family kPoolings{"planes x size x window", {"160x24x2", "64x24x3", "1280x24x2", "3200x8x2"}};
const Family kElements{"elements", {"10000", "184320", "10000000"}};
const Family kParameters{"elements", {"10000", "431080", "10000000"}};
const Family kRows{"rows x classes", {"64x10", "50x4000", "100x1000", "10000x100"}};
const Family kBroadcasts{"rows of a x columns x rows of b, 1 or all",
                         {"64x500x1", "64x500x64", "10000x100x1", "10000x100x10000"}};
const Family kSums{"rows kept x rows summed x columns",
                   {"50x4000x1", "1x64x500", "100x1000x1", "10000x20x1", "1x10000x100"}};

struct Entry {
  std::string_view op;
  const Family* family;
  Problem (*make)(const Sizes&, Draw&);
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
      {Add::name, &kBroadcasts, add},
      {Mul::name, &kBroadcasts, mul},
      {Sum::name, &kSums, sum},
      {Max::name, &kRows, max},
      {Scale::name, &kElements, scale},
      {Axpy::name, &kElements, axpy},
      {Fill::name, &kElements, fill},
      {SgdStep::name, &kParameters, sgd_step},
      {AdamStep::name, &kParameters, adam_step},
  };
  return list;
}

const Entry& entry_of(std::string_view op) {
  for (const Entry& entry : entries()) {
    if (entry.op == op) return entry;
  }
  fail<ValueError>("kernel", "no op is called '{}'; there are {}", op, fmt::join(problem_ops(), ", "));
}

// Takes "-nt" off the end: first a, then b; t: transposed.
Sizes take_transposes(std::string_view& shape) {
  for (const std::string_view which : {"-nn", "-nt", "-tn", "-tt"}) {
    if (!shape.ends_with(which)) continue;
    shape.remove_suffix(which.size());
    return {which[1] == 't', which[2] == 't'};
  }
  return {0, 0};
}

Sizes parse(const Entry& entry, const std::string& shape) {
  std::string_view numbers = shape;
  const Sizes transposes = entry.family->transposes ? take_transposes(numbers) : Sizes{};
  Sizes sizes;
  const char *at = numbers.data(), *const end = at + numbers.size();
  bool good = !numbers.empty();
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
  sizes.insert(sizes.end(), transposes.begin(), transposes.end());
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

Problem make_problem(std::string_view op, const std::string& shape, std::uint64_t seed) {
  const Entry& entry = entry_of(op);
  Draw draw(seed);
  Problem made = entry.make(parse(entry, shape), draw);
  made.shape = shape;
  return made;
}

}  // namespace warpline::tools
