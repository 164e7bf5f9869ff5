#include "parallel/collectives/algorithm.h"

#include "parallel/collectives/collectives.h"

namespace warpline::parallel {

std::string_view to_string(AllReduceAlgorithm algorithm) {
  switch (algorithm) {
    case AllReduceAlgorithm::Automatic:
      return "automatic";
    case AllReduceAlgorithm::Ring:
      return "ring";
    case AllReduceAlgorithm::HalvingDoubling:
      return "halving-doubling";
    case AllReduceAlgorithm::Tree:
      return "tree";
  }
  return "?";
}

AllReduceAlgorithm choose_all_reduce(AllReduceAlgorithm wanted, std::int64_t bytes, int ranks) {
  constexpr std::int64_t kLatencyBound = 64 << 10;
  const bool power_of_two = (ranks & (ranks - 1)) == 0;
  switch (wanted) {
    case AllReduceAlgorithm::Automatic:
      if (bytes >= kLatencyBound) return AllReduceAlgorithm::Ring;
      return power_of_two ? AllReduceAlgorithm::HalvingDoubling : AllReduceAlgorithm::Tree;
    case AllReduceAlgorithm::HalvingDoubling:
      return power_of_two ? AllReduceAlgorithm::HalvingDoubling : AllReduceAlgorithm::Ring;
    case AllReduceAlgorithm::Ring:
    case AllReduceAlgorithm::Tree:
      return wanted;
  }
  return wanted;
}

void all_reduce(Wire& wire, const Tensor& tensor, ReduceOp op, AllReduceAlgorithm algorithm) {
  switch (choose_all_reduce(algorithm, tensor.bytes(), wire.size())) {
    case AllReduceAlgorithm::Automatic:  // chosen by now
    case AllReduceAlgorithm::Ring:
      return ring_all_reduce(wire, tensor, op);
    case AllReduceAlgorithm::HalvingDoubling:
      return halving_doubling_all_reduce(wire, tensor, op);
    case AllReduceAlgorithm::Tree:
      return tree_all_reduce(wire, tensor, op);
  }
}

}  // namespace warpline::parallel
