// In which order threads of a block, and blocks of a grid, take their turns. CUDA promises none, so each seed
// is another one: 0 forward, 1 backward, 2 the last warp first; every further seed draws.
#pragma once

#include <cstdint>
#include <vector>

namespace warpline::emu {

// The seed of every launch from now on; 0 at start.
void set_order_seed(std::uint64_t seed);
std::uint64_t order_seed();

// Fills `order` with a permutation of 0 .. order.size() - 1. `salt` tells rounds and blocks apart.
void draw_order(std::vector<std::uint32_t>& order, std::uint64_t seed, std::uint64_t salt);

// Place `i` of a permutation of 0 .. count - 1 that needs no memory, for the blocks of a large grid.
std::uint64_t place_in_order(std::uint64_t i, std::uint64_t count, std::uint64_t seed);

}  // namespace warpline::emu
