// CUDA's index types.
#pragma once

#include <cstdint>

namespace warpline::emu {

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_size = 1, unsigned y_size = 1, unsigned z_size = 1)  // NOLINT: implicit in CUDA
      : x(x_size), y(y_size), z(z_size) {}
  constexpr dim3(uint3 size) : x(size.x), y(size.y), z(size.z) {}  // NOLINT: likewise
  constexpr operator uint3() const { return {x, y, z}; }           // NOLINT
  constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

}  // namespace warpline::emu
