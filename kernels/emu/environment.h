// Switches and numbers of the emulator in the environment. ValueError for what is neither.
#pragma once

#include <cstdint>

namespace warpline::emu {

// On: 1; off: 0, empty or not set.
bool is_switched_on(const char* variable);

// Decimal digits, from `least` to `most`; `otherwise` where it is not set.
std::uint64_t number_from(const char* variable, std::uint64_t otherwise, std::uint64_t least,
                          std::uint64_t most = ~std::uint64_t{0});

}  // namespace warpline::emu
