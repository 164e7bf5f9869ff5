#include "kernels/emu/cuda_runtime/environment.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include <fmt/core.h>

namespace warpline::cuda {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise, std::uint64_t least,
                          std::uint64_t most) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return otherwise;
  const std::string_view digits = text;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc{} && end == digits.data() + digits.size() && value >= least && value <= most)
    return value;
  fmt::print(stderr, "[emu] {} is a number from {} to {}: it is '{}'\n", variable, least, most, digits);
  std::exit(2);
}

}  // namespace warpline::cuda
