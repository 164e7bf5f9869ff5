// Seeded inputs of kernel tests, equal on every machine (the standard distributions are not).
#pragma once

#include <cstdint>
#include <random>
#include <type_traits>

#include "tests/support/guarded.h"
#include "tests/support/not_finite.h"
#include "tests/support/options.h"

namespace warpline::test {

enum class Data {
  Integers,  // -4..4: sums of products below 2^20 terms are exact in float32, so any order gives one answer
  Reals,     // -1..1
};

// uint32 takes all its values either way: its arithmetic is exact modulo 2^32. Odd salts start off alignment;
// --seed gives every array other values.
template <class T>
Guarded<T> random_values(std::int64_t size, Data data, std::uint64_t salt) {
  std::mt19937_64 generator(salt + (options().seed - 1) * 0x9e3779b97f4a7c15);
  Guarded<T> result(size, T{}, static_cast<std::int64_t>(salt % 2));
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

// An output before its kernel ran: what is not overwritten shows.
template <class T>
Guarded<T> unwritten(std::int64_t size) {
  return Guarded<T>(size, std::is_floating_point_v<T> ? kNaNOf<T> : static_cast<T>(0xdeadbeef));
}

// i * multiplier mod modulus, centred: whole numbers that a line of any language repeats, for literals worked
// out elsewhere.
template <class T>
Guarded<T> pattern(std::int64_t size, std::int64_t multiplier, std::int64_t modulus) {
  Guarded<T> result(size);
  for (std::int64_t i = 0; i < size; ++i) {
    result[i] = static_cast<T>(i * multiplier % modulus - modulus / 2);
  }
  return result;
}

}  // namespace warpline::test
