#include "kernels/emu/profile/warp_request.h"

#include <algorithm>
#include <vector>

namespace warpline::emu::profile {

namespace {

constexpr std::uint64_t kWordBytes = 4, kBanks = 32, kWavefrontBytes = kWordBytes * kBanks;

// The different pieces of `size` bytes that lanes first .. last - 1 touch, in order.
std::vector<std::uint64_t> pieces(const WarpRequest& request, unsigned first, unsigned last,
                                  std::uint64_t size) {
  std::vector<std::uint64_t> found;
  for (unsigned lane = first; lane < last; ++lane) {
    if ((request.lanes >> lane & 1U) == 0) continue;
    const std::uint64_t begin = request.address[lane] / size;
    const std::uint64_t end = (request.address[lane] + request.bytes - 1) / size;
    for (std::uint64_t piece = begin; piece <= end; ++piece) {
      if (found.empty() || found.back() != piece) found.push_back(piece);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace

int sectors(const WarpRequest& request) {
  return static_cast<int>(pieces(request, 0, kWarp, kSectorBytes).size());
}

int wavefronts(const WarpRequest& request) {
  const auto together = static_cast<unsigned>(
      std::clamp<std::uint64_t>(kWavefrontBytes / std::max<std::uint32_t>(request.bytes, 1), 1, kWarp));
  int total = 0;
  for (unsigned first = 0; first < kWarp; first += together) {
    std::array<int, kBanks> words{};
    for (const std::uint64_t word : pieces(request, first, std::min(first + together, kWarp), kWordBytes))
      ++words[word % kBanks];
    total += *std::max_element(words.begin(), words.end());
  }
  return total;
}

}  // namespace warpline::emu::profile
