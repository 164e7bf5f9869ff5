#include "parallel/wire.h"

#include <array>

#include "engine/transfer.h"

namespace warpline::parallel {

void count(std::span<const Message> messages, Traffic& traffic) {
  for (const Message& message : messages) {
    (message.sends ? traffic.bytes_sent : traffic.bytes_received) += message.tensor.bytes();
    ++(message.sends ? traffic.messages_sent : traffic.messages_received);
  }
}

Message Wire::message(bool sends, const Tensor& tensor, int peer) const {
  return {sends, peer, tensor, call_, collective_};
}

void Wire::send(const Tensor& tensor, int peer) {
  const std::array messages{message(true, tensor, peer)};
  transport_.exchange(messages);
  count(messages, traffic_);
}

void Wire::recv(const Tensor& tensor, int peer) {
  const std::array messages{message(false, tensor, peer)};
  transport_.exchange(messages);
  count(messages, traffic_);
}

void Wire::exchange(const Tensor& out, int to, const Tensor& in, int from) {
  const std::array messages{message(true, out, to), message(false, in, from)};
  transport_.exchange(messages);
  count(messages, traffic_);
}

Tensor slice(const Tensor& tensor, Range range) {
  return Tensor::view_of(tensor, range.begin, {range.size()});
}

Tensor temporary(Wire& wire, std::int64_t count, DType dtype) {
  return Tensor::empty(wire.context(), {count}, dtype);
}

void copy(const Tensor& to, const Tensor& from, Wire& wire) {
  if (to.data() == from.data() || to.count() == 0) return;
  device_to_device(to.data(), from.data(), static_cast<std::size_t>(from.bytes()), wire.context().stream());
}

}  // namespace warpline::parallel
