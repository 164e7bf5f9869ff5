// The CUDA kernels' host functions, typed; rows.cpp lists them for each target. Each launches on the stream
// and returns; empty results launch nothing. Float kernels sum in float, double ones in double.
#pragma once

#include <cstdint>

#include "kernels/args.h"
#include "kernels/ops.h"
#include "kernels/stream.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {

// float, double, uint32; the steps of a ladder.
template <class T>
void gemm_naive(const T* a, const T* b, T* c, const GemmArgs&, const Stream&);
template <class T>
void gemm_coalesced(const T* a, const T* b, T* c, const GemmArgs&, const Stream&);
template <class T>
void gemm_shared_tile(const T* a, const T* b, T* c, const GemmArgs&, const Stream&);
template <class T>
void gemm_register_column(const T* a, const T* b, T* c, const GemmArgs&, const Stream&);
template <class T>
void gemm_register_tile(const T* a, const T* b, T* c, const GemmArgs&, const Stream&);
template <class T>
void gemm_vector_loads(const T* a, const T* b, T* c, const GemmArgs&, const Stream&);
template <class T>
void gemm_split_k(const T* a, const T* b, T* c, const GemmArgs&, const Stream&);
template <class T>
bool gemm_vector_loads_supports(const GemmArgs&);
bool gemm_split_k_supports(const GemmArgs&);

template <class T>
void conv2d_forward_direct(const T* x, const T* weight, const T* bias, T* y, const Conv2dArgs&,
                           const Stream&);
template <class T>
void conv2d_forward_tiles(const T* x, const T* weight, const T* bias, T* y, const Conv2dArgs&, const Stream&);
bool conv2d_forward_tiles_supports(const Conv2dArgs&);
template <class T>
void conv2d_backward_input_direct(const T* dy, const T* weight, T* dx, const Conv2dArgs&, const Stream&);
template <class T>
void conv2d_backward_input_tiles(const T* dy, const T* weight, T* dx, const Conv2dArgs&, const Stream&);
bool conv2d_backward_input_tiles_supports(const Conv2dArgs&);
template <class T>
void conv2d_backward_weight_direct(const T* dy, const T* x, T* dweight, const Conv2dArgs&, const Stream&);
template <class T>
void conv2d_backward_weight_tiles(const T* dy, const T* x, T* dweight, const Conv2dArgs&, const Stream&);
bool conv2d_backward_weight_tiles_supports(const Conv2dArgs&);
template <class T>
void conv2d_backward_bias(const T* dy, T* dbias, const Conv2dArgs&, const Stream&);

template <class T>
void relu_forward(const T* x, T* y, const CountArgs&, const Stream&);
template <class T>
void relu_backward(const T* dy, const T* y, T* dx, const CountArgs&, const Stream&);
template <class T>
void scale(const T* x, T* y, const CountArgs&, const Stream&);
template <class T>
void axpy(const T* x, T* y, const CountArgs&, const Stream&);

// Combine: Plus or Times.
struct Plus;
struct Times;
template <class T, class Combine>
void broadcast(const T* a, const T* b, T* y, const BroadcastArgs&, const Stream&);
template <class T, class Combine>
void broadcast_bias(const T* a, const T* b, T* y, const BroadcastArgs&, const Stream&);  // b repeats within a
template <class T, class Combine>
void broadcast_same(const T* a, const T* b, T* y, const BroadcastArgs&,
                    const Stream&);  // a and b lie as y does
bool broadcast_is_bias(const void* args);
bool broadcast_is_same(const void* args);

// Team: who shares a row or a sum, ThreadTeam, WarpTeam or BlockTeam.
struct ThreadTeam;
struct WarpTeam;
struct BlockTeam;
template <class T, class Team>
void sum(const T* x, T* y, const ReduceArgs&, const Stream&);
template <class T>
void sum_columns(const T* x, T* y, const ReduceArgs&, const Stream&);
bool sum_suits_columns(const void* args);
bool sum_suits_warp(const void* args);
bool sum_suits_block(const void* args);
template <class T, class Team>
void max(const T* x, T* values, std::int64_t* indices, const AxisArgs&, const Stream&);

// positions: uint8 or int32 (MaxPool2dArgs::wide_positions).
template <class T>
void max_pool2d_forward(const T* x, T* y, void* positions, const MaxPool2dArgs&, const Stream&);
template <class T>
void max_pool2d_backward(const T* dy, const void* positions, T* dx, const MaxPool2dArgs&, const Stream&);
void max_pool2d_indices(const void* positions, std::int64_t* indices, const MaxPool2dArgs&, const Stream&);
template <class T>
void max_pool2d_forward_2x2(const T* x, T* y, void* positions, const MaxPool2dArgs&, const Stream&);
template <class T>
void max_pool2d_backward_2x2(const T* dy, const void* positions, T* dx, const MaxPool2dArgs&, const Stream&);
bool max_pool2d_is_2x2(const void* args);

// float and double.
template <class T, class Team>
void log_softmax_forward(const T* x, T* y, const AxisArgs&, const Stream&);
template <class T, class Team>
void log_softmax_backward(const T* dy, const T* y, T* dx, const AxisArgs&, const Stream&);

// One team for all rows: WarpTeam or BlockTeam.
template <class T, class Team>
void nll_forward(const T* log_probability, const std::int64_t* target, const T* class_weight, T* loss,
                 T* total_weight, TargetError* error, const NllArgs&, const Stream&);
template <class T>
void nll_backward(const T* dloss, const std::int64_t* target, const T* class_weight, const T* total_weight,
                  T* dx, const NllArgs&, const Stream&);
bool nll_suits_warp(const void* args);
template <class T>
void cross_entropy_backward(const T* dloss, const T* log_probability, const std::int64_t* target,
                            const T* class_weight, const T* total_weight, T* dx, const NllArgs&,
                            const Stream&);

template <class T>
void sgd_step(const T* gradient, T* parameter, T* momentum_buffer, const SgdArgs&, const Stream&);
template <class T>
void adam_step(const T* gradient, T* parameter, T* exp_avg, T* exp_avg_sq, const AdamArgs&, const Stream&);

// Of an AxisArgs: max and log_softmax.
bool rows_suit_warp(const void* args);
bool rows_suit_block(const void* args);

// Every dtype.
template <class T>
void fill(T* y, const CountArgs&, const Stream&);

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
