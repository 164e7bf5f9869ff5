// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
// easy as 1, 2, 3", SC 2011). A number is a function of seed, stream and index, with no state: whoever holds
// a parameter, however the work is split and in whichever order, draws the same values.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "engine/tensor.h"

namespace warpline {

// Four random words of one counter under one key, ten rounds.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

// The number of a named stream: the 64-bit FNV-1a hash of the name ("conv1.weight"). Part of the checkpoint
// contract: a new hash would change every initial weight.
std::uint64_t stream_id(std::string_view name);

// Number `index` of a stream. The seed is the key; the counter's low half is index / 4, its high half the
// stream; index % 4 picks the word.
std::uint32_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);
// Uniform in [0, 1): the upper 24 bits, which float32 holds exactly, so that all dtypes get equal values.
double uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

// tensor[i] = uniform in [-bound, bound], number i of the stream `name`. float32 or float64 (DTypeError); in
// place, as engine/inplace.h says.
void fill_uniform(Context& context, Tensor& tensor, std::uint64_t seed, std::string_view name, double bound);

}  // namespace warpline
