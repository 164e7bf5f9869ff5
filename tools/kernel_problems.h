// Calls that stand for each op of the kernel table: sizes and operands with random data, for programs that
// compare, time and profile kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/table.h"

namespace warpline::tools {

struct Operand {
  DType dtype = DType::Float32;
  std::vector<std::byte> values;  // before the call; an output's are overwritten
  bool output = false;
  bool absent = false;  // null: an op can do without
};

struct Problem {
  std::string op, shape;
  DType dtype = DType::Float32;  // of the row
  std::vector<Operand> operands;
  double tolerance = 0;  // how far a float result may be from that of `ref`; all others are exact
  double bytes = 0;      // that a call needs to touch, each once
  std::shared_ptr<const void> args;
  // pointers: one an operand, in device memory of the row's target.
  std::function<void(const kernels::Row& row, const std::vector<void*>& pointers, const Stream& stream)> run;
};

// Every op of the table, in its order.
std::vector<std::string_view> problem_ops();
// The shapes that an op is shown with, small ones first, and what their numbers are: "m x n x k". Those of a
// matrix product may end in -nt, -tn or -tt where a, b or both are stored transposed.
std::vector<std::string> problem_shapes(std::string_view op);
std::string_view shape_legend(std::string_view op);

// Float32, but for what is defined on int64; random data, the same for the same seed. ValueError for an
// unknown op, or a shape that is not the op's: "128x128x128".
Problem make_problem(std::string_view op, const std::string& shape, std::uint64_t seed = 1);

}  // namespace warpline::tools
