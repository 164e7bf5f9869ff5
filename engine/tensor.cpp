#include "engine/tensor.h"

#include <cstdint>
#include <utility>

#include "engine/inplace.h"
#include "engine/node.h"
#include "engine/tensor_impl.h"
#include "engine/transfer.h"
#include "kernels/error.h"

namespace warpline {
namespace {

bool is_floating(DType dtype) { return dtype == DType::Float32 || dtype == DType::Float64; }

template <class T>
double read_one(const Tensor& tensor) {
  T value;
  device_to_host(&value, tensor.storage()->stream(), tensor.data(), sizeof(T));
  return static_cast<double>(value);
}

}  // namespace

TensorImpl& Tensor::get() const {
  if (impl_ == nullptr) {
    fail<AutogradError>("tensor", "this tensor is undefined: it holds nothing; check defined() first");
  }
  return *impl_;
}

Tensor Tensor::empty(Context& context, const Shape& shape, DType dtype) {
  const std::int64_t count = element_count(shape);
  const std::int64_t bytes = byte_count(shape, dtype);
  Tensor tensor;
  tensor.impl_ = std::make_shared<TensorImpl>();
  tensor.impl_->storage = std::make_shared<Storage>(context.device_stream(), static_cast<std::size_t>(bytes));
  tensor.impl_->shape = shape;
  tensor.impl_->count = count;
  tensor.impl_->dtype = dtype;
  return tensor;
}

Tensor Tensor::zeros(Context& context, const Shape& shape, DType dtype) {
  Tensor tensor = empty(context, shape, dtype);
  zero_device(tensor.data(), static_cast<std::size_t>(tensor.bytes()), context.stream());
  return tensor;
}

Tensor Tensor::full(Context& context, const Shape& shape, double value, DType dtype) {
  Tensor tensor = empty(context, shape, dtype);
  fill_(context, tensor, value);
  return tensor;
}

Tensor Tensor::from_bytes(Context& context, std::span<const std::byte> bytes, const Shape& shape,
                          DType dtype) {
  Tensor tensor = empty(context, shape, dtype);
  if (static_cast<std::size_t>(tensor.bytes()) != bytes.size()) {
    fail<ShapeError>("tensor", "shape {} of {} holds {} bytes, {} were given", to_string(shape),
                     to_string(dtype), tensor.bytes(), bytes.size());
  }
  host_to_device(tensor.data(), bytes.data(), bytes.size(), context.stream());
  return tensor;
}

const Shape& Tensor::shape() const { return get().shape; }

std::int64_t Tensor::size(int axis) const {
  const int from_start = axis < 0 ? axis + dims() : axis;
  if (from_start < 0 || from_start >= dims()) {
    fail<ShapeError>("tensor", "axis {} does not exist in shape {}", axis, to_string(shape()));
  }
  return shape()[static_cast<std::size_t>(from_start)];
}

std::int64_t Tensor::count() const { return get().count; }
std::int64_t Tensor::bytes() const { return count() * static_cast<std::int64_t>(size_of(dtype())); }
DType Tensor::dtype() const { return get().dtype; }
Device Tensor::device() const { return get().storage->device(); }
const std::shared_ptr<Storage>& Tensor::storage() const { return get().storage; }

void* Tensor::data() const {
  const TensorImpl& impl = get();
  return static_cast<std::byte*>(impl.storage->data()) +
         impl.offset * static_cast<std::int64_t>(size_of(impl.dtype));
}

double Tensor::item() const {
  if (count() != 1) {
    fail<ShapeError>("item", "one element is wanted: shape {} holds {}", to_string(shape()), count());
  }
  switch (dtype()) {
    case DType::Float32:
      return read_one<float>(*this);
    case DType::Float64:
      return read_one<double>(*this);
    case DType::Int64:
      return read_one<std::int64_t>(*this);
    case DType::Int32:
      return read_one<std::int32_t>(*this);
    case DType::UInt8:
      return read_one<std::uint8_t>(*this);
    case DType::UInt32:
      return read_one<std::uint32_t>(*this);
  }
  return 0.0;
}

void Tensor::copy_to_host(std::span<std::byte> bytes, DType dtype) const {
  if (dtype != this->dtype()) {
    fail<DTypeError>("tensor", "a tensor of {} cannot be read as {}", to_string(this->dtype()),
                     to_string(dtype));
  }
  if (bytes.size() != static_cast<std::size_t>(this->bytes())) {
    fail<ShapeError>("tensor", "{} bytes cannot take the {} bytes of shape {}", bytes.size(), this->bytes(),
                     to_string(shape()));
  }
  device_to_host(bytes.data(), storage()->stream(), data(), bytes.size());
}

bool Tensor::requires_grad() const { return get().requires_grad || get().node != nullptr; }

Tensor& Tensor::set_requires_grad(bool value) {
  TensorImpl& impl = get();
  if (impl.node != nullptr) {
    fail<AutogradError>("autograd",
                        "requires_grad can be set on a leaf only: this tensor of shape {} is the result of "
                        "{}; use detach() for one without history",
                        to_string(impl.shape), impl.node->name());
  }
  if (value && !is_floating(impl.dtype)) {
    fail<AutogradError>("autograd", "only float32 and float64 tensors have gradients: this one is {}",
                        to_string(impl.dtype));
  }
  impl.requires_grad = value;
  return *this;
}

bool Tensor::is_leaf() const { return get().node == nullptr; }
Tensor Tensor::grad() const { return get().grad; }

void Tensor::set_grad(Tensor grad) {
  TensorImpl& impl = get();
  if (grad.defined()) {
    if (grad.shape() != impl.shape) {
      fail<ShapeError>("autograd", "a gradient has its tensor's shape: {} for {}", to_string(grad.shape()),
                       to_string(impl.shape));
    }
    if (grad.dtype() != impl.dtype) {
      fail<DTypeError>("autograd", "a gradient has its tensor's dtype: {} for {}", to_string(grad.dtype()),
                       to_string(impl.dtype));
    }
    if (grad.device() != device()) {
      fail<DeviceError>("autograd", "a gradient is on its tensor's device: {} for {}",
                        to_string(grad.device()), to_string(device()));
    }
  }
  impl.grad = std::move(grad);
}

const std::shared_ptr<Node>& Tensor::node() const { return get().node; }

Tensor Tensor::detach() const { return view_of(*this, 0, shape()); }

const std::string& Tensor::name() const { return get().name; }

Tensor& Tensor::set_name(std::string name) {
  get().name = std::move(name);
  return *this;
}

Tensor Tensor::view_of(const Tensor& base, std::int64_t offset_elements, Shape shape) {
  const TensorImpl& from = base.get();
  const std::int64_t count = element_count(shape);
  if (offset_elements < 0 || offset_elements > from.count || count > from.count - offset_elements) {
    fail<ShapeError>("view", "a view stays within its base: {} from element {} on of {}", to_string(shape),
                     offset_elements, to_string(from.shape));
  }
  Tensor view;
  view.impl_ = std::make_shared<TensorImpl>();
  view.impl_->storage = from.storage;
  view.impl_->offset = from.offset + offset_elements;
  view.impl_->shape = std::move(shape);
  view.impl_->count = count;
  view.impl_->dtype = from.dtype;
  return view;
}

void Tensor::set_node(std::shared_ptr<Node> node) { get().node = std::move(node); }

bool Tensor::sole_owner() const { return get().storage.use_count() == 1 && impl_.use_count() == 1; }

}  // namespace warpline
