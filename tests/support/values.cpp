#include "tests/support/values.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/support/options.h"

namespace warpline::test {
namespace {

template <class T>
Tensor make_as(Context& context, const std::vector<double>& values, const Shape& shape) {
  std::vector<T> typed(values.size());
  std::ranges::transform(values, typed.begin(), [](double value) { return static_cast<T>(value); });
  return Tensor::from_host(context, typed, shape);
}

template <class T>
std::vector<double> values_as(const Tensor& tensor) {
  const std::vector<T> typed = tensor.to_host<T>();
  return {typed.begin(), typed.end()};
}

}  // namespace

Tensor make(Context& context, const std::vector<double>& values, const Shape& shape, DType dtype) {
  switch (dtype) {
    case DType::Float32:
      return make_as<float>(context, values, shape);
    case DType::Float64:
      return make_as<double>(context, values, shape);
    default:
      return make_as<std::int64_t>(context, values, shape);
  }
}

std::vector<double> values(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::Float32:
      return values_as<float>(tensor);
    case DType::Float64:
      return values_as<double>(tensor);
    default:
      return values_as<std::int64_t>(tensor);
  }
}

std::vector<double> pattern(std::int64_t count, std::int64_t salt) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < count; ++i) {
    result.push_back(static_cast<double>((3 * i * i + 7 * i + 5 * salt) % 11 - 5));
  }
  return result;
}

Tensor pattern(Context& context, const Shape& shape, std::int64_t salt, DType dtype) {
  return make(context, pattern(element_count(shape), salt), shape, dtype);
}

std::vector<double> noise(std::int64_t count, std::int64_t salt) {
  std::vector<double> result;
  std::uint64_t state = static_cast<std::uint64_t>(salt) * 0x9e3779b97f4a7c15U + 1;
  for (std::int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    result.push_back(static_cast<double>(state >> 11) * 0x1.0p-52 - 1.0);
  }
  return result;
}

std::vector<double> spread(std::int64_t count, std::int64_t salt) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  const std::vector<double> keys = noise(count, salt);
  std::ranges::sort(order, {}, [&](std::int64_t i) { return keys[static_cast<std::size_t>(i)]; });
  std::vector<double> result;
  for (const std::int64_t place : order) {
    result.push_back(0.1 * (static_cast<double>(place - count / 2) + 0.25));
  }
  return result;
}

std::string difference(const std::vector<double>& actual, const std::vector<double>& expected,
                       double tolerance) {
  if (actual.size() != expected.size()) {
    return fmt::format("{} elements instead of {}", actual.size(), expected.size());
  }
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double a = actual[i], e = expected[i];
    const bool same = std::isnan(e) ? std::isnan(a) : a == e || std::abs(a - e) <= tolerance;
    if (!same) {
      return fmt::format("element {} is {}, not {}; all: {} instead of {}", i, a, e, fmt::join(actual, ", "),
                         fmt::join(expected, ", "));
    }
  }
  return "";
}

void on_each_device(const std::string& what, const std::function<void(Context&)>& body) {
  std::string ran;
  for (const DeviceKind kind : device_kinds()) {
    INFO("on " << to_string(kind));
    Context context({kind, 0}, 2);
    body(context);
    ran += fmt::format(" {}", to_string(kind));
  }
  fmt::print("{}: ran on{}\n", what, ran);
}

void check_against_ref(const std::function<Lists(Context&)>& run) {
  Context reference({DeviceKind::Ref, 0});
  const Lists expected = run(reference);
  for (const DeviceKind kind : device_kinds()) {
    INFO("on " << to_string(kind));
    Context context({kind, 0}, 2);
    const Lists actual = run(context);
    REQUIRE(actual.size() == expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
      INFO("result " << i);
      CHECK(difference(actual[i], expected[i]) == "");
    }
  }
}

}  // namespace warpline::test
