// CUDA's index types.
#pragma once

#include <cstdint>

namespace warpline::emu {

struct uint3 {
  unsigned x = 0, y = 0, z = 0;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_size = 1, unsigned y_size = 1, unsigned z_size = 1)  // NOLINT: implicit in CUDA
      : x(x_size), y(y_size), z(z_size) {}
  constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

}  // namespace warpline::emu
