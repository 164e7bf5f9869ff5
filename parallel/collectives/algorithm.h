// Which all-reduce, by size and number of ranks.
#pragma once

#include <cstdint>
#include <string_view>

namespace warpline::parallel {

enum class AllReduceAlgorithm : std::uint8_t { Automatic, Ring, HalvingDoubling, Tree };
std::string_view to_string(AllReduceAlgorithm algorithm);

// Never Automatic. That is, by the cost formulas: below 64 KiB latency decides, so halving-doubling where N
// is a power of two, else the tree; above, bandwidth does, so the ring. Halving-doubling on another N is the
// ring.
AllReduceAlgorithm choose_all_reduce(AllReduceAlgorithm wanted, std::int64_t bytes, int ranks);

}  // namespace warpline::parallel
