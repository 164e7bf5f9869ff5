// Numbers in the environment.
#pragma once

#include <cstdint>

namespace warpline::cuda {

// Exit status 2 for a bad one.
std::uint64_t number_from(const char* variable, std::uint64_t otherwise, std::uint64_t least,
                          std::uint64_t most);

}  // namespace warpline::cuda
