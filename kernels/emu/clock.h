// How far each stream had come when a piece of work began: what is not within this is not ordered before it.
// (Vector clocks: Fidge, 1988; Mattern, 1989.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpline::emu {

class Clock {
 public:
  std::uint64_t at(std::size_t queue) const { return queue < positions_.size() ? positions_[queue] : 0; }
  void set(std::size_t queue, std::uint64_t position) {
    if (queue >= positions_.size()) positions_.resize(queue + 1);
    positions_[queue] = position;
  }
  void merge(const Clock& other) {
    for (std::size_t i = 0; i < other.positions_.size(); ++i) set(i, std::max(at(i), other.positions_[i]));
  }

 private:
  std::vector<std::uint64_t> positions_;
};

}  // namespace warpline::emu
