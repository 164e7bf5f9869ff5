// The rows of the CUDA kernels, from naive to fastest where an op has several: compiled once for each target,
// as the kernels are, and into the function that WARPLINE_CUDA_ROWS names.
#include "kernels/cuda/kernels.h"
#include "kernels/table.h"
#include "kernels/typed.h"

namespace warpline::kernels {
namespace {

constexpr DeviceKind kTarget = DeviceKind::WARPLINE_CUDA_KIND;
namespace target = WARPLINE_CUDA_TARGET;

template <class Op>
void add_row(std::vector<Row>& rows, std::string_view variant, DType dtype, typename Op::Function function,
             bool (*supports)(const void*) = nullptr) {
  rows.push_back(row<Op>(variant, kTarget, dtype, function, supports));
}

// A condition on an op's arguments, as the table holds it.
template <auto Condition>
struct Supports;
template <class Args, bool (*Condition)(const Args&)>
struct Supports<Condition> {
  static bool call(const void* args) { return Condition(*static_cast<const Args*>(args)); }
};
template <auto Condition>
constexpr bool (*supports)(const void*) = &Supports<Condition>::call;

// Ops made of sums, products and comparisons.
template <class T>
void add_rows_of_a_ring(std::vector<Row>& rows) {
  constexpr DType dtype = dtype_of<T>;
  add_row<Gemm>(rows, "naive", dtype, typed<&target::gemm_naive<T>>);
  add_row<Gemm>(rows, "coalesced", dtype, typed<&target::gemm_coalesced<T>>);
  add_row<Gemm>(rows, "shared_tile", dtype, typed<&target::gemm_shared_tile<T>>);
  add_row<Gemm>(rows, "register_column", dtype, typed<&target::gemm_register_column<T>>);
  add_row<Gemm>(rows, "register_tile", dtype, typed<&target::gemm_register_tile<T>>);
  add_row<Gemm>(rows, "vector_loads", dtype, typed<&target::gemm_vector_loads<T>>,
                supports<&target::gemm_vector_loads_supports<T>>);
  add_row<Gemm>(rows, "split_k", dtype, typed<&target::gemm_split_k<T>>,
                supports<&target::gemm_split_k_supports>);
  add_row<Conv2dForward>(rows, "direct", dtype, typed<&target::conv2d_forward_direct<T>>);
  add_row<Conv2dForward>(rows, "implicit_gemm", dtype, typed<&target::conv2d_forward_tiles<T>>,
                         supports<&target::conv2d_forward_tiles_supports>);
  add_row<Conv2dBackwardInput>(rows, "direct", dtype, typed<&target::conv2d_backward_input_direct<T>>);
  add_row<Conv2dBackwardInput>(rows, "implicit_gemm", dtype, typed<&target::conv2d_backward_input_tiles<T>>,
                               supports<&target::conv2d_backward_input_tiles_supports>);
  add_row<Conv2dBackwardWeight>(rows, "direct", dtype, typed<&target::conv2d_backward_weight_direct<T>>);
  add_row<Conv2dBackwardWeight>(rows, "implicit_gemm", dtype, typed<&target::conv2d_backward_weight_tiles<T>>,
                                supports<&target::conv2d_backward_weight_tiles_supports>);
  add_row<Conv2dBackwardBias>(rows, "block", dtype, typed<&target::conv2d_backward_bias<T>>);

  add_row<ReluForward>(rows, "grid_stride", dtype, typed<&target::relu_forward<T>>);
  add_row<ReluBackward>(rows, "grid_stride", dtype, typed<&target::relu_backward<T>>);
  add_row<Scale>(rows, "grid_stride", dtype, typed<&target::scale<T>>);
  add_row<Axpy>(rows, "grid_stride", dtype, typed<&target::axpy<T>>);

  add_row<Add>(rows, "any_strides", dtype, typed<&target::broadcast<T, target::Plus>>);
  add_row<Add>(rows, "bias", dtype, typed<&target::broadcast_bias<T, target::Plus>>,
               &target::broadcast_is_bias);
  add_row<Add>(rows, "same", dtype, typed<&target::broadcast_same<T, target::Plus>>,
               &target::broadcast_is_same);
  add_row<Mul>(rows, "any_strides", dtype, typed<&target::broadcast<T, target::Times>>);
  add_row<Mul>(rows, "bias", dtype, typed<&target::broadcast_bias<T, target::Times>>,
               &target::broadcast_is_bias);
  add_row<Mul>(rows, "same", dtype, typed<&target::broadcast_same<T, target::Times>>,
               &target::broadcast_is_same);

  add_row<Sum>(rows, "thread", dtype, typed<&target::sum<T, target::ThreadTeam>>);
  add_row<Sum>(rows, "columns", dtype, typed<&target::sum_columns<T>>, &target::sum_suits_columns);
  add_row<Sum>(rows, "warp", dtype, typed<&target::sum<T, target::WarpTeam>>, &target::sum_suits_warp);
  add_row<Sum>(rows, "block", dtype, typed<&target::sum<T, target::BlockTeam>>, &target::sum_suits_block);
  add_row<Max>(rows, "thread", dtype, typed<&target::max<T, target::ThreadTeam>>);
  add_row<Max>(rows, "warp", dtype, typed<&target::max<T, target::WarpTeam>>, &target::rows_suit_warp);
  add_row<Max>(rows, "block", dtype, typed<&target::max<T, target::BlockTeam>>, &target::rows_suit_block);

  add_row<MaxPool2dForward>(rows, "any_window", dtype, typed<&target::max_pool2d_forward<T>>);
  add_row<MaxPool2dForward>(rows, "2x2", dtype, typed<&target::max_pool2d_forward_2x2<T>>,
                            &target::max_pool2d_is_2x2);
  add_row<MaxPool2dBackward>(rows, "any_window", dtype, typed<&target::max_pool2d_backward<T>>);
  add_row<MaxPool2dBackward>(rows, "2x2", dtype, typed<&target::max_pool2d_backward_2x2<T>>,
                             &target::max_pool2d_is_2x2);
}

// Ops that divide or need exp, log or a root.
template <class T>
void add_rows_of_a_field(std::vector<Row>& rows) {
  constexpr DType dtype = dtype_of<T>;
  add_row<LogSoftmaxForward>(rows, "thread", dtype,
                             typed<&target::log_softmax_forward<T, target::ThreadTeam>>);
  add_row<LogSoftmaxForward>(rows, "warp", dtype, typed<&target::log_softmax_forward<T, target::WarpTeam>>,
                             &target::rows_suit_warp);
  add_row<LogSoftmaxForward>(rows, "block", dtype, typed<&target::log_softmax_forward<T, target::BlockTeam>>,
                             &target::rows_suit_block);
  add_row<LogSoftmaxBackward>(rows, "thread", dtype,
                              typed<&target::log_softmax_backward<T, target::ThreadTeam>>);
  add_row<LogSoftmaxBackward>(rows, "warp", dtype, typed<&target::log_softmax_backward<T, target::WarpTeam>>,
                              &target::rows_suit_warp);
  add_row<LogSoftmaxBackward>(rows, "block", dtype,
                              typed<&target::log_softmax_backward<T, target::BlockTeam>>,
                              &target::rows_suit_block);

  add_row<NllForward>(rows, "block", dtype, typed<&target::nll_forward<T, target::BlockTeam>>);
  add_row<NllForward>(rows, "warp", dtype, typed<&target::nll_forward<T, target::WarpTeam>>,
                      &target::nll_suits_warp);
  add_row<NllBackward>(rows, "grid_stride", dtype, typed<&target::nll_backward<T>>);
  add_row<CrossEntropyBackward>(rows, "grid_stride", dtype, typed<&target::cross_entropy_backward<T>>);

  add_row<SgdStep>(rows, "grid_stride", dtype, typed<&target::sgd_step<T>>);
  add_row<AdamStep>(rows, "grid_stride", dtype, typed<&target::adam_step<T>>);
}

template <class... T>
void add_fill_rows(std::vector<Row>& rows) {
  (add_row<Fill>(rows, "grid_stride", dtype_of<T>, typed<&target::fill<T>>), ...);
}

}  // namespace

std::vector<Row> WARPLINE_CUDA_ROWS() {
  std::vector<Row> rows;
  add_rows_of_a_ring<float>(rows);
  add_rows_of_a_ring<double>(rows);
  add_rows_of_a_ring<std::uint32_t>(rows);
  add_rows_of_a_field<float>(rows);
  add_rows_of_a_field<double>(rows);
  add_fill_rows<float, double, std::int64_t, std::int32_t, std::uint8_t, std::uint32_t>(rows);
  add_row<MaxPool2dIndices>(rows, "any_window", DType::Int64, typed<&target::max_pool2d_indices>);
  return rows;
}

}  // namespace warpline::kernels
