#include "kernels/emu/environment.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "kernels/error.h"

namespace warpline::emu {

bool is_switched_on(const char* variable) {
  const char* const text = std::getenv(variable);
  const std::string_view value = text == nullptr ? "" : text;
  if (value != "" && value != "0" && value != "1") fail<ValueError>(variable, "is 1 or 0; it is '{}'", value);
  return value == "1";
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise, std::uint64_t least,
                          std::uint64_t most) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return otherwise;
  const std::string_view digits = text;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || value < least || value > most)
    fail<ValueError>(variable, "is a number from {} to {}; it is '{}'", least, most, digits);
  return value;
}

}  // namespace warpline::emu
