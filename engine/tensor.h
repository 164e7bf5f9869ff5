// A tensor: a value-semantic handle on {storage, offset, shape, dtype, device} that remembers how it was
// made. Copying a Tensor copies the handle. Always row-major contiguous; a view shares storage and carries
// gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/context.h"
#include "engine/shape.h"
#include "engine/storage.h"
#include "kernels/dtype.h"

namespace warpline {

class Node;  // engine/node.h
struct TensorImpl;

class Tensor {
 public:
  Tensor() = default;  // undefined: defined() is false, every other call throws AutogradError

  // Contents undefined. Throws ShapeError for a negative size or a product that leaves int64.
  static Tensor empty(Context& context, const Shape& shape, DType dtype = DType::Float32);
  static Tensor zeros(Context& context, const Shape& shape, DType dtype = DType::Float32);
  static Tensor full(Context& context, const Shape& shape, double value, DType dtype = DType::Float32);
  // Copies values.size() elements, which must be what shape holds (ShapeError).
  template <class T>
  static Tensor from_host(Context& context, std::span<const T> values, const Shape& shape) {
    return from_bytes(context, std::as_bytes(values), shape, dtype_of<T>);
  }
  template <class T>
  static Tensor from_host(Context& context, const std::vector<T>& values, const Shape& shape) {
    return from_host(context, std::span<const T>(values), shape);
  }
  static Tensor from_bytes(Context& context, std::span<const std::byte> bytes, const Shape& shape,
                           DType dtype);

  bool defined() const { return impl_ != nullptr; }
  const Shape& shape() const;
  int dims() const { return static_cast<int>(shape().size()); }
  std::int64_t size(int axis) const;  // a negative axis counts from the end
  std::int64_t count() const;         // elements
  std::int64_t bytes() const;
  DType dtype() const;
  Device device() const;
  const std::shared_ptr<Storage>& storage() const;

  // Device memory. For kernels (op files) and communicators only: everybody else reads through to_host() and
  // item().
  void* data() const;

  // Synchronise and copy out. T must match the dtype (DTypeError); item() wants exactly one element
  // (ShapeError).
  template <class T>
  std::vector<T> to_host() const {
    std::vector<T> values(static_cast<std::size_t>(count()));
    copy_to_host(std::as_writable_bytes(std::span<T>(values)), dtype_of<T>);
    return values;
  }
  double item() const;  // any dtype
  void copy_to_host(std::span<std::byte> bytes, DType dtype) const;

  // Autograd. set_requires_grad is for leaves of floating dtype (AutogradError otherwise). A tensor that an
  // op made from such a leaf requires a gradient as well, and has a node.
  bool requires_grad() const;
  Tensor& set_requires_grad(bool value = true);
  bool is_leaf() const;
  Tensor grad() const;                        // undefined when there is none
  void set_grad(Tensor grad);                 // shape, dtype and device of this tensor, or undefined to clear
  const std::shared_ptr<Node>& node() const;  // null for a leaf
  Tensor detach() const;                      // shares storage, forgets history
  bool same_as(const Tensor& other) const { return impl_ == other.impl_; }

  // A name for messages, printed graphs and gradient sinks: "conv1.weight". Empty until set.
  const std::string& name() const;
  Tensor& set_name(std::string name);

  // Internal to the engine: views and op results. A view of `base` from one of its elements on, without
  // history; ShapeError where it does not fit.
  static Tensor view_of(const Tensor& base, std::int64_t offset_elements, Shape shape);
  void set_node(std::shared_ptr<Node> node);
  // No other handle or view reaches these bytes. Meaningful only where no other thread holds the tensor.
  bool sole_owner() const;
  const TensorImpl* impl() const { return impl_.get(); }

 private:
  TensorImpl& get() const;  // throws AutogradError where undefined
  std::shared_ptr<TensorImpl> impl_;
};

}  // namespace warpline
