// Switches of the emulator in the environment.
#pragma once

#include <cstdlib>
#include <string_view>

#include "kernels/error.h"

namespace warpline::emu {

// On: 1; off: 0, empty or not set. ValueError for anything else.
inline bool is_switched_on(const char* variable) {
  const char* const text = std::getenv(variable);
  const std::string_view value = text == nullptr ? "" : text;
  if (value != "" && value != "0" && value != "1") fail<ValueError>(variable, "is 1 or 0; it is '{}'", value);
  return value == "1";
}

}  // namespace warpline::emu
