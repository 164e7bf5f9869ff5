// The sectors of a device's memory that a launch has touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpline::emu::profile {

class SectorSet {
 public:
  void insert(std::size_t sector) {
    const std::size_t at = sector / 64;
    if (at >= bits_.size()) bits_.resize(at + 1);
    const std::uint64_t bit = std::uint64_t{1} << sector % 64;
    if ((bits_[at] & bit) != 0) return;
    if (bits_[at] == 0) used_.push_back(at);
    bits_[at] |= bit;
    ++size_;
  }
  std::size_t size() const { return size_; }
  void clear() {
    for (const std::size_t at : used_) bits_[at] = 0;
    used_.clear();
    size_ = 0;
  }

 private:
  std::vector<std::uint64_t> bits_;
  std::vector<std::size_t> used_;  // words with a bit
  std::size_t size_ = 0;
};

}  // namespace warpline::emu::profile
