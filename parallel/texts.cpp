#include "parallel/texts.h"

#include <cstdint>
#include <span>
#include <sstream>

#include "kernels/error.h"

namespace warpline::parallel {
namespace {

Tensor to_tensor(Context& context, const std::string& text) {
  return Tensor::from_bytes(context, std::as_bytes(std::span(text)), {static_cast<std::int64_t>(text.size())},
                            DType::UInt8);
}

std::string to_text(const Tensor& tensor) {
  const std::vector<std::uint8_t> bytes = tensor.to_host<std::uint8_t>();
  return {bytes.begin(), bytes.end()};
}

Tensor length_of(Context& context, const std::string& text) {
  return Tensor::from_host<std::int64_t>(context, std::vector{static_cast<std::int64_t>(text.size())}, {1});
}

}  // namespace

std::string broadcast_text(Context& context, Communicator& communicator, const std::string& text, int root) {
  const bool here = communicator.rank() == root;
  const Tensor length = length_of(context, text);
  communicator.broadcast(length, root, context.stream()).wait();
  const Tensor body = here ? to_tensor(context, text)
                           : Tensor::empty(context, {length.to_host<std::int64_t>()[0]}, DType::UInt8);
  communicator.broadcast(body, root, context.stream()).wait();
  return here ? text : to_text(body);
}

std::vector<std::string> gather_texts(Context& context, Communicator& communicator, const std::string& text,
                                      int root) {
  if (communicator.rank() != root) {
    communicator.send(length_of(context, text), root, context.stream()).wait();
    communicator.send(to_tensor(context, text), root, context.stream()).wait();
    return {};
  }
  std::vector<std::string> texts;
  for (int rank = 0; rank < communicator.size(); ++rank) {
    if (rank == root) {
      texts.push_back(text);
      continue;
    }
    const Tensor length = Tensor::empty(context, {1}, DType::Int64);
    communicator.recv(length, rank, context.stream()).wait();
    const Tensor body = Tensor::empty(context, {length.to_host<std::int64_t>()[0]}, DType::UInt8);
    communicator.recv(body, rank, context.stream()).wait();
    texts.push_back(to_text(body));
  }
  return texts;
}

void require_same_text(Context& context, Communicator& communicator, const std::string& what,
                       const std::string& text) {
  const std::string first = broadcast_text(context, communicator, text);
  if (first == text) return;
  std::istringstream here(text), there(first);
  std::string mine, theirs;
  do {
    if (!std::getline(here, mine)) mine = "nothing more";
    if (!std::getline(there, theirs)) theirs = "nothing more";
  } while (mine == theirs && (here || there));
  fail<ValueError>("agreement", "rank {} and rank 0 of {} disagree about {}: '{}' here, '{}' on rank 0",
                   communicator.rank(), communicator.name(), what, mine, theirs);
}

}  // namespace warpline::parallel
