#include "kernels/emu/order.h"

#include <atomic>
#include <numeric>
#include <utility>

namespace warpline::emu {

namespace {

constexpr std::size_t kWarp = 32;

// SplitMix64 (Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, 2014).
std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

std::atomic<std::uint64_t> current_seed = 0;

}  // namespace

void set_order_seed(std::uint64_t seed) { current_seed = seed; }
std::uint64_t order_seed() { return current_seed; }

void draw_order(std::vector<std::uint32_t>& order, std::uint64_t seed, std::uint64_t salt) {
  const std::size_t count = order.size();
  switch (seed) {
    case 0:
      std::iota(order.begin(), order.end(), 0U);
      return;
    case 1:
      std::iota(order.rbegin(), order.rend(), 0U);
      return;
    case 2: {
      std::size_t at = 0;
      for (std::size_t warp = (count + kWarp - 1) / kWarp; warp-- > 0;) {
        for (std::size_t i = warp * kWarp; i < count && i < (warp + 1) * kWarp; ++i) {
          order[at++] = static_cast<std::uint32_t>(i);
        }
      }
      return;
    }
    default: {
      std::iota(order.begin(), order.end(), 0U);
      std::uint64_t state = mix(seed ^ mix(salt));
      for (std::size_t i = count; i > 1; --i) {
        state = mix(state);
        std::swap(order[i - 1], order[state % i]);
      }
    }
  }
}

std::uint64_t place_in_order(std::uint64_t i, std::uint64_t count, std::uint64_t seed) {
  if (seed == 0) return i;
  if (seed <= 2) return count - 1 - i;
  // i * factor + shift walks through all places where factor and count have no common divisor. Grids of more
  // than 2^31 blocks are only turned.
  const bool small = count <= std::uint64_t{1} << 31;
  std::uint64_t factor = small ? mix(seed) % count | 1 : 1;
  while (std::gcd(factor, count) != 1) factor += 2;
  return (i * factor + mix(mix(seed)) % count) % count;
}

}  // namespace warpline::emu
