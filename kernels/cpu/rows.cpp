// The rows of target `cpu`, from naive to fastest where an op has several.
#include "kernels/cpu/kernels.h"
#include "kernels/ref/nll.h"
#include "kernels/table.h"
#include "kernels/typed.h"

namespace warpline::kernels {

std::vector<Row> cpu_rows() {
  constexpr DeviceKind kCpu = DeviceKind::Cpu;
  constexpr DType kFloat = DType::Float32;
  return {
      row<Gemm>("tiles", kCpu, kFloat, typed<&cpu::gemm>),

      row<Conv2dForward>("im2col", kCpu, kFloat, typed<&cpu::conv2d_forward>),
      row<Conv2dBackwardInput>("col2im", kCpu, kFloat, typed<&cpu::conv2d_backward_input>),
      row<Conv2dBackwardWeight>("im2row", kCpu, kFloat, typed<&cpu::conv2d_backward_weight>),
      row<Conv2dBackwardBias>("sum", kCpu, kFloat, typed<&cpu::conv2d_backward_bias>),

      row<MaxPool2dForward>("any_window", kCpu, kFloat, typed<&cpu::max_pool2d_forward>),
      row<MaxPool2dForward>("2x2", kCpu, kFloat, typed<&cpu::max_pool2d_forward_2x2>,
                            &cpu::max_pool2d_is_2x2),
      row<MaxPool2dBackward>("any_window", kCpu, kFloat, typed<&cpu::max_pool2d_backward>),
      row<MaxPool2dBackward>("2x2", kCpu, kFloat, typed<&cpu::max_pool2d_backward_2x2>,
                             &cpu::max_pool2d_is_2x2),
      row<MaxPool2dIndices>("any_window", kCpu, DType::Int64, typed<&cpu::max_pool2d_indices>),

      row<ReluForward>("loop", kCpu, kFloat, typed<&cpu::relu_forward>),
      row<ReluBackward>("loop", kCpu, kFloat, typed<&cpu::relu_backward>),
      row<LogSoftmaxForward>("rows", kCpu, kFloat, typed<&cpu::log_softmax_forward>),
      row<LogSoftmaxBackward>("rows", kCpu, kFloat, typed<&cpu::log_softmax_backward>),
      // One element a row is touched: nothing to make faster.
      row<NllForward>("ref", kCpu, kFloat, typed<&ref::nll_forward<float>>),
      row<NllBackward>("ref", kCpu, kFloat, typed<&ref::nll_backward<float>>),
      row<CrossEntropyBackward>("rows", kCpu, kFloat, typed<&cpu::cross_entropy_backward>),

      row<Add>("rows", kCpu, kFloat, typed<&cpu::add>),
      row<Mul>("rows", kCpu, kFloat, typed<&cpu::mul>),
      row<Sum>("pieces", kCpu, kFloat, typed<&cpu::sum>),
      row<Max>("rows", kCpu, kFloat, typed<&cpu::max>),

      row<Scale>("loop", kCpu, kFloat, typed<&cpu::scale>),
      row<Axpy>("loop", kCpu, kFloat, typed<&cpu::axpy>),
      row<Fill>("loop", kCpu, kFloat, typed<&cpu::fill<float>>),
      row<Fill>("loop", kCpu, DType::Float64, typed<&cpu::fill<double>>),
      row<Fill>("loop", kCpu, DType::Int64, typed<&cpu::fill<std::int64_t>>),
      row<Fill>("loop", kCpu, DType::Int32, typed<&cpu::fill<std::int32_t>>),
      row<Fill>("loop", kCpu, DType::UInt8, typed<&cpu::fill<std::uint8_t>>),
      row<Fill>("loop", kCpu, DType::UInt32, typed<&cpu::fill<std::uint32_t>>),

      row<SgdStep>("loop", kCpu, kFloat, typed<&cpu::sgd_step>),
      row<AdamStep>("loop", kCpu, kFloat, typed<&cpu::adam_step>),
  };
}

}  // namespace warpline::kernels
