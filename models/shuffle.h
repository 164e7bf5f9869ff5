// The order in which an epoch visits the training samples.
#pragma once

#include <cstdint>
#include <vector>

namespace warpline {

// A permutation of 0 .. count - 1, each equally likely (Fisher and Yates), from seed and epoch alone: every
// rank makes the same one, and a resumed run needs no state. count below 2^32.
std::vector<std::uint32_t> shuffled(std::uint64_t seed, std::int64_t epoch, std::int64_t count);

}  // namespace warpline
