#include "parallel/combine.h"

#include <cmath>
#include <type_traits>

#include "kernels/table.h"

namespace warpline::parallel {
namespace {

template <class T>
T larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return a + b;
  }
  return a < b ? b : a;
}

// Integers wrap around.
template <class T>
T sum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a + b;
  } else {
    using Wide = std::make_unsigned_t<std::common_type_t<T, int>>;
    return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
  }
}

template <class T>
void combine_as(ReduceOp op, const Tensor& to, const Tensor& from) {
  T* y = static_cast<T*>(to.data());
  const T* x = static_cast<const T*>(from.data());
  for (std::int64_t i = 0; i < to.count(); ++i)
    y[i] = op == ReduceOp::Sum ? sum(y[i], x[i]) : larger(y[i], x[i]);
}

}  // namespace

void combine(ReduceOp op, const Tensor& to, const Tensor& from, Context& context) {
  if (to.count() == 0) return;
  if (op == ReduceOp::Sum && to.dtype() == DType::Float32) {
    const kernels::CountArgs args{to.count(), 1.0};
    kernels::kernel<kernels::Axpy>(context.device().kind, to.dtype(), args)(from.data(), to.data(), args,
                                                                            context.stream());
    return;
  }
  switch (to.dtype()) {
    case DType::Float32:
      return combine_as<float>(op, to, from);
    case DType::Float64:
      return combine_as<double>(op, to, from);
    case DType::Int64:
      return combine_as<std::int64_t>(op, to, from);
    case DType::Int32:
      return combine_as<std::int32_t>(op, to, from);
    case DType::UInt8:
      return combine_as<std::uint8_t>(op, to, from);
    case DType::UInt32:
      return combine_as<std::uint32_t>(op, to, from);
  }
}

}  // namespace warpline::parallel
