// What a collective is written on: sends, receives and both at once, of parts of tensors, within one call.
#pragma once

#include <cstdint>

#include "parallel/blocks.h"
#include "parallel/communicator.h"
#include "parallel/point_to_point.h"

namespace warpline::parallel {

class Wire {
 public:
  Wire(PointToPoint& transport, const Signature& call, std::int64_t collective, Traffic& traffic)
      : transport_(transport), call_(call), collective_(collective), traffic_(traffic) {}

  int rank() const { return transport_.rank(); }
  int size() const { return transport_.size(); }
  Context& context() { return transport_.context(); }

  void send(const Tensor& tensor, int peer);
  void recv(const Tensor& tensor, int peer);
  // Both progress together, so that a ring of ranks does not wait for itself.
  void exchange(const Tensor& out, int to, const Tensor& in, int from);

 private:
  Message message(bool sends, const Tensor& tensor, int peer) const;

  PointToPoint& transport_;
  const Signature& call_;
  std::int64_t collective_;
  Traffic& traffic_;
};

void count(std::span<const Message> messages, Traffic& traffic);

// Elements [begin, end) of a tensor, flat, sharing its memory.
Tensor slice(const Tensor& tensor, Range range);
// A flat tensor for intermediate results; memory of the communication thread.
Tensor temporary(Wire& wire, std::int64_t count, DType dtype);
void copy(const Tensor& to, const Tensor& from, Wire& wire);

}  // namespace warpline::parallel
