#include "tools/kernel_check.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

#include "kernels/error.h"
#include "tools/device_operands.h"

namespace warpline::tools {
namespace {

template <class T>
bool agree(T actual, T expected, double tolerance) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(actual) || std::isnan(expected)) return std::isnan(actual) && std::isnan(expected);
    const double difference = static_cast<double>(actual) - static_cast<double>(expected);
    return actual == expected || std::abs(difference) <= tolerance;
  } else {
    return actual == expected;
  }
}

template <class T>
std::string difference(std::size_t operand, const std::vector<std::byte>& actual,
                       const std::vector<std::byte>& expected, double tolerance) {
  for (std::size_t at = 0; at + sizeof(T) <= expected.size(); at += sizeof(T)) {
    T a, e;
    std::memcpy(&a, &actual[at], sizeof(T));
    std::memcpy(&e, &expected[at], sizeof(T));
    if (agree(a, e, tolerance)) continue;
    const std::string within = std::is_floating_point_v<T> ? fmt::format(" within {:.3g}", tolerance) : "";
    return fmt::format("element {} of operand {} is {}, ref has {}{}", at / sizeof(T), operand, a, e, within);
  }
  return "";
}

}  // namespace

Outputs reference_outputs(const Problem& problem) {
  const Stream stream{{DeviceKind::Ref, 0}};
  const DeviceOperands operands(problem, stream);
  const kernels::Row& row = kernels::find(problem.op, DeviceKind::Ref, problem.dtype, problem.args.get());
  problem.run(row, operands.pointers(), stream);
  return operands.outputs(problem);
}

std::string first_difference(const Problem& problem, const Outputs& actual, const Outputs& expected) {
  for (std::size_t i = 0; i < problem.operands.size(); ++i) {
    const auto with = [&]<class T>(T) {
      return difference<T>(i, actual.at(i), expected.at(i), problem.tolerance);
    };
    std::string found;
    switch (problem.operands[i].dtype) {
      case DType::Float32:
        found = with(float{});
        break;
      case DType::Float64:
        found = with(double{});
        break;
      case DType::Int64:
        found = with(std::int64_t{});
        break;
      case DType::Int32:
        found = with(std::int32_t{});
        break;
      case DType::UInt8:
        found = with(std::uint8_t{});
        break;
      case DType::UInt32:
        found = with(std::uint32_t{});
        break;
    }
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace warpline::tools
