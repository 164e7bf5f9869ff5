// What a Tensor handle points to. For the engine's own files only.
#pragma once

#include <memory>
#include <string>

#include "engine/tensor.h"

namespace warpline {

struct TensorImpl {
  std::shared_ptr<Storage> storage;
  std::int64_t offset = 0;  // elements from the start of the storage
  Shape shape;
  std::int64_t count = 0;
  DType dtype = DType::Float32;
  bool requires_grad = false;  // of a leaf; a tensor with a node requires it anyway
  std::shared_ptr<Node> node;
  Tensor grad;
  std::string name;
};

}  // namespace warpline
