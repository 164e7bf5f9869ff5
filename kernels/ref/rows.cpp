// The rows of `ref`: the definition of every op, one variant each.
#include "kernels/ref/broadcast.h"
#include "kernels/ref/conv2d.h"
#include "kernels/ref/cross_entropy.h"
#include "kernels/ref/gemm.h"
#include "kernels/ref/log_softmax.h"
#include "kernels/ref/max_pool2d.h"
#include "kernels/ref/nll.h"
#include "kernels/ref/optimizer.h"
#include "kernels/ref/reduce.h"
#include "kernels/ref/relu.h"
#include "kernels/ref/vector.h"
#include "kernels/table.h"
#include "kernels/typed.h"

namespace warpline::kernels {
namespace {

template <class Op>
void add_row(std::vector<Row>& rows, DType dtype, typename Op::Function function) {
  rows.push_back(row<Op>("plain", DeviceKind::Ref, dtype, function));
}

// Ops made of sums, products and comparisons.
template <class T>
void add_rows_of_a_ring(std::vector<Row>& rows) {
  constexpr DType dtype = dtype_of<T>;
  add_row<Gemm>(rows, dtype, typed<&ref::gemm<T>>);
  add_row<Conv2dForward>(rows, dtype, typed<&ref::conv2d_forward<T>>);
  add_row<Conv2dBackwardInput>(rows, dtype, typed<&ref::conv2d_backward_input<T>>);
  add_row<Conv2dBackwardWeight>(rows, dtype, typed<&ref::conv2d_backward_weight<T>>);
  add_row<Conv2dBackwardBias>(rows, dtype, typed<&ref::conv2d_backward_bias<T>>);
  add_row<MaxPool2dForward>(rows, dtype, typed<&ref::max_pool2d_forward<T>>);
  add_row<MaxPool2dBackward>(rows, dtype, typed<&ref::max_pool2d_backward<T>>);
  add_row<ReluForward>(rows, dtype, typed<&ref::relu_forward<T>>);
  add_row<ReluBackward>(rows, dtype, typed<&ref::relu_backward<T>>);
  add_row<Add>(rows, dtype, typed<&ref::add<T>>);
  add_row<Mul>(rows, dtype, typed<&ref::mul<T>>);
  add_row<Sum>(rows, dtype, typed<&ref::sum<T>>);
  add_row<Max>(rows, dtype, typed<&ref::max<T>>);
  add_row<Scale>(rows, dtype, typed<&ref::scale<T>>);
  add_row<Axpy>(rows, dtype, typed<&ref::axpy<T>>);
}

// Ops that divide or need exp, log or a root.
template <class T>
void add_rows_of_a_field(std::vector<Row>& rows) {
  constexpr DType dtype = dtype_of<T>;
  add_row<LogSoftmaxForward>(rows, dtype, typed<&ref::log_softmax_forward<T>>);
  add_row<LogSoftmaxBackward>(rows, dtype, typed<&ref::log_softmax_backward<T>>);
  add_row<NllForward>(rows, dtype, typed<&ref::nll_forward<T>>);
  add_row<NllBackward>(rows, dtype, typed<&ref::nll_backward<T>>);
  add_row<CrossEntropyBackward>(rows, dtype, typed<&ref::cross_entropy_backward<T>>);
  add_row<SgdStep>(rows, dtype, typed<&ref::sgd_step<T>>);
  add_row<AdamStep>(rows, dtype, typed<&ref::adam_step<T>>);
}

template <class... T>
void add_fill_rows(std::vector<Row>& rows) {
  (add_row<Fill>(rows, dtype_of<T>, typed<&ref::fill<T>>), ...);
}

}  // namespace

std::vector<Row> ref_rows() {
  std::vector<Row> rows;
  add_rows_of_a_ring<float>(rows);
  add_rows_of_a_ring<double>(rows);
  add_rows_of_a_ring<std::uint32_t>(rows);
  add_rows_of_a_field<float>(rows);
  add_rows_of_a_field<double>(rows);
  add_fill_rows<float, double, std::int64_t, std::int32_t, std::uint8_t, std::uint32_t>(rows);
  add_row<MaxPool2dIndices>(rows, DType::Int64, typed<&ref::max_pool2d_indices>);
  return rows;
}

}  // namespace warpline::kernels
