#include "models/shuffle.h"

#include <numeric>
#include <utility>

#include <fmt/core.h>

#include "engine/random.h"

namespace warpline {
namespace {

// Uniform in 0 .. bound - 1 without bias: draws that fall into the incomplete last stretch are drawn again
// (Lemire, "Fast random integer generation in an interval", 2019).
std::uint32_t below(std::uint64_t seed, std::uint64_t stream, std::uint64_t& index, std::uint32_t bound) {
  const std::uint32_t incomplete = static_cast<std::uint32_t>(-bound) % bound;
  while (true) {
    const std::uint64_t product = std::uint64_t{random_bits(seed, stream, index++)} * bound;
    if (static_cast<std::uint32_t>(product) >= incomplete) return static_cast<std::uint32_t>(product >> 32);
  }
}

}  // namespace

std::vector<std::uint32_t> shuffled(std::uint64_t seed, std::int64_t epoch, std::int64_t count) {
  std::vector<std::uint32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0U);
  const std::uint64_t stream = stream_id(fmt::format("shuffle {}", epoch));
  std::uint64_t index = 0;
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[below(seed, stream, index, static_cast<std::uint32_t>(i))]);
  }
  return order;
}

}  // namespace warpline
