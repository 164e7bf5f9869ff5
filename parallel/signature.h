// What a communication call is, in numbers that all ranks can compare. NCCL compares none of this between
// ranks; here a difference is an error that names both sides.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/dtype.h"

namespace warpline::parallel {

enum class CallKind : std::uint8_t {
  Send,
  Recv,
  AllReduce,
  ReduceScatter,
  AllGather,
  Broadcast,
  Barrier,
  Split
};
enum class ReduceOp : std::uint8_t { Sum, Max };

struct Signature {
  std::int64_t sequence = 0;  // of this rank on this communicator, from 0
  CallKind kind = CallKind::Send;
  std::int64_t count = 0;  // elements
  DType dtype = DType::Float32;
  ReduceOp op = ReduceOp::Sum;
  int root = -1;
  int peer = -1;
  int tag = -1;  // a plan's ticket for point-to-point calls, -1 for none
  bool operator==(const Signature&) const = default;
};

constexpr bool is_point_to_point(CallKind kind) { return kind == CallKind::Send || kind == CallKind::Recv; }

std::string_view to_string(CallKind kind);
std::string_view to_string(ReduceOp op);
// "#7 send 3200 x float32 to rank 1, tag 12"; ranks are those of the communicator.
std::string to_string(const Signature& signature);

// What keeps two calls that meet from being one: "count 5 against 6", "send against all_reduce"; empty:
// nothing. A send meets a receive; a collective meets itself on another rank. Sequence and peer may differ.
std::string difference(const Signature& mine, const Signature& theirs);

}  // namespace warpline::parallel
