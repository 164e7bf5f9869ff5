// Seeded inputs of kernel tests, equal on every machine (the standard distributions are not).
#pragma once

#include <cstdint>
#include <random>
#include <type_traits>

#include "tests/support/guarded.h"

namespace warpline::test {

enum class Data {
  Integers,  // -4..4: sums of products below 2^20 terms are exact in float32, so any order gives one answer
  Reals,     // -1..1
};

// uint32 takes all its values either way: its arithmetic is exact modulo 2^32. Odd seeds start off alignment.
template <class T>
Guarded<T> random_values(std::int64_t size, Data data, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  Guarded<T> result(size, T{}, static_cast<std::int64_t>(seed % 2));
  for (T& value : result) {
    const std::uint64_t bits = generator();
    if constexpr (!std::is_floating_point_v<T>) {
      value = static_cast<T>(bits);
    } else if (data == Data::Integers) {
      value = static_cast<T>(static_cast<int>(bits % 9) - 4);
    } else {
      value = static_cast<T>(static_cast<double>(bits >> 11) * 0x1p-52 - 1.0);
    }
  }
  return result;
}

}  // namespace warpline::test
