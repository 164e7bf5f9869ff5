// The ops that `warpline op` runs, by PyTorch's names: inputs by parameter name, attributes, and how to call
// them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tensor.h"
#include "tools/attributes.h"

namespace warpline::tools {

using Tensors = std::map<std::string, Tensor>;

struct OpInput {
  std::string_view name;
  bool required = true;
  bool differentiable = true;
};

struct OpRow {
  std::string_view name;
  std::vector<OpInput> inputs;
  std::string_view attributes;  // for --list
  // Undefined tensors stand for optional inputs that the file does not hold. Results by name: "output" is
  // differentiable, others are not.
  std::function<Tensors(Context&, Tensors&, Attributes&)> call;
};

const std::vector<OpRow>& op_table();

}  // namespace warpline::tools
