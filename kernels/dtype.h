// Element types. UInt32 exists for exact tests: sums and products modulo 2^32 give one answer in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace warpline {

enum class DType : std::uint8_t { Float32, Float64, Int64, Int32, UInt8, UInt32 };

std::size_t size_of(DType dtype);         // bytes
std::string_view to_string(DType dtype);  // "float32"

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::Float32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::Float64;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::Int64;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::Int32;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::UInt8;
};
template <>
struct DTypeOf<std::uint32_t> {
  static constexpr DType value = DType::UInt32;
};
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

}  // namespace warpline
