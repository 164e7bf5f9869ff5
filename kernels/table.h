// The kernel table: rows {op, variant, target, dtype, function, constraint}. Tests and benchmarks walk all
// rows; dispatch takes the last row of a (op, target, dtype) whose constraint holds, so variants are listed
// from naive to fastest. Rows are listed in one explicit function a target: no self-registration, which
// static archives drop.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/device.h"
#include "kernels/dtype.h"
#include "kernels/error.h"
#include "kernels/flops.h"
#include "kernels/named_range.h"
#include "kernels/ops.h"

namespace warpline::kernels {

struct Row {
  std::string_view op;
  std::string_view variant;
  DeviceKind target;
  DType dtype;
  void (*function)();                  // cast back by kernel<Op>()
  bool (*supports)(const void* args);  // null: always
  double (*flops)(const void* args);   // floating-point operations of a call: flops.h
};

template <class Op>
Row row(std::string_view variant, DeviceKind target, DType dtype, typename Op::Function function,
        bool (*supports)(const void* args) = nullptr) {
  return {Op::name,
          variant,
          target,
          dtype,
          reinterpret_cast<void (*)()>(function),
          supports,
          [](const void* args) { return flops(Op{}, *static_cast<const typename Op::Args*>(args)); }};
}

std::vector<Row> ref_rows();   // kernels/ref/rows.cpp
std::vector<Row> cpu_rows();   // kernels/cpu/rows.cpp
std::vector<Row> cuda_rows();  // kernels/cuda/rows.cpp; none in a build without nvcc
std::vector<Row> emu_rows();
std::vector<Row> emu_checked_rows();

// Every row of every target that is built in, in dispatch order.
const std::vector<Row>& table();

// Throws DTypeError, naming op, target and the dtypes that there are, when no row fits.
const Row& find(std::string_view op, DeviceKind target, DType dtype, const void* args);

// Calls a row's function; a profiler shows the call under the op's name.
template <class Op, class Function = typename Op::Function>
class Kernel;
template <class Op, class... Arguments>
class Kernel<Op, void (*)(Arguments...)> {
 public:
  explicit Kernel(const Row& row) : function_(reinterpret_cast<typename Op::Function>(row.function)) {}
  void operator()(Arguments... arguments) const {
    const NamedRange range(Op::name);
    function_(arguments...);
  }

 private:
  typename Op::Function function_;
};

// kernel<Gemm>(DeviceKind::Cpu, DType::Float32, args)(a, b, c, args, stream)
template <class Op>
Kernel<Op> kernel(DeviceKind target, DType dtype, const typename Op::Args& args) {
  return Kernel<Op>(find(Op::name, target, dtype, &args));
}

}  // namespace warpline::kernels
