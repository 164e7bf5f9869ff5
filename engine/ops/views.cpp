#include "engine/ops/views.h"

#include <utility>

#include "engine/checks.h"
#include "engine/node.h"
#include "engine/transfer.h"
#include "kernels/error.h"

namespace warpline {
namespace {

class ReshapeNode final : public Node {
 public:
  ReshapeNode(std::string_view name, Shape input) : name_(name), input_(std::move(input)) {}
  std::string_view name() const override { return name_; }
  std::vector<Tensor> backward(Context&, const Tensor& gradient, const std::vector<bool>&) override {
    return {Tensor::view_of(gradient, 0, input_)};
  }

 private:
  std::string_view name_;  // a literal
  Shape input_;
};

class NarrowNode final : public Node {
 public:
  NarrowNode(Shape input, std::int64_t offset) : input_(std::move(input)), offset_(offset) {}
  std::string_view name() const override { return "narrow"; }
  // Rows outside the window get zeros.
  std::vector<Tensor> backward(Context& context, const Tensor& gradient, const std::vector<bool>&) override {
    Tensor whole = Tensor::zeros(context, input_, gradient.dtype());
    const Tensor rows = Tensor::view_of(whole, offset_, gradient.shape());
    device_to_device(rows.data(), gradient.data(), static_cast<std::size_t>(gradient.bytes()),
                     context.stream());
    return {whole};
  }

 private:
  Shape input_;
  std::int64_t offset_;  // elements
};

Tensor reshaped(std::string_view name, Context& context, const Tensor& input, Shape shape) {
  check_same_device(name, context, {{"input", input}});
  Tensor view = Tensor::view_of(input, 0, std::move(shape));
  record<ReshapeNode>(context, view, {&input}, name, input.shape());
  return view;
}

}  // namespace

Shape reshape_shape(const Shape& input, const Shape& shape) {
  Shape result = shape;
  std::int64_t* unknown = nullptr;
  for (std::int64_t& size : result) {
    if (size != -1) continue;
    if (unknown != nullptr) {
      fail<ShapeError>("reshape", "only one size may be -1: {}", to_string(shape));
    }
    unknown = &size;
  }
  const std::int64_t count = element_count(input);
  if (unknown != nullptr) {
    *unknown = 1;
    const std::int64_t known = element_count(result);
    if (known == 0) {
      fail<ShapeError>("reshape", "-1 may stand for any size beside a size of 0: {}; write the size",
                       to_string(shape));
    }
    *unknown = count / known;
  }
  if (element_count(result) != count) {
    fail<ShapeError>("reshape", "the number of elements must stay: {} holds {}, which {} does not",
                     to_string(input), count, to_string(shape));
  }
  return result;
}

Tensor reshape(Context& context, const Tensor& input, const Shape& shape) {
  return reshaped("reshape", context, input, reshape_shape(input.shape(), shape));
}

Tensor narrow(Context& context, const Tensor& input, std::int64_t start, std::int64_t length) {
  check_same_device("narrow", context, {{"input", input}});
  if (input.dims() == 0) fail<ShapeError>("narrow", "a scalar has no axis to narrow");
  const std::int64_t rows = input.size(0);
  if (start < 0 || length < 0 || start > rows || length > rows - start) {
    fail<ShapeError>("narrow", "{} rows from row {} on do not lie within the {} rows of {}", length, start,
                     rows, to_string(input.shape()));
  }
  Shape shape = input.shape();
  shape[0] = length;
  const std::int64_t offset = rows == 0 ? 0 : start * (input.count() / rows);
  Tensor view = Tensor::view_of(input, offset, std::move(shape));
  record<NarrowNode>(context, view, {&input}, input.shape(), offset);
  return view;
}

Shape flatten_shape(const Shape& input, int start_axis) {
  if (input.empty() && (start_axis == 0 || start_axis == -1)) return {1};
  const int dims = static_cast<int>(input.size());
  const int start = start_axis < 0 ? start_axis + dims : start_axis;
  if (start < 0 || start >= dims) {
    fail<ShapeError>("flatten", "start axis {} does not exist in shape {}", start_axis, to_string(input));
  }
  const auto first = input.begin() + start;
  Shape shape(input.begin(), first);
  shape.push_back(element_count(Shape(first, input.end())));
  return shape;
}

Tensor flatten(Context& context, const Tensor& input, int start_axis) {
  return reshaped("flatten", context, input, flatten_shape(input.shape(), start_axis));
}

}  // namespace warpline
