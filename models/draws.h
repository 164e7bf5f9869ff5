// The random numbers of one drawing: a Philox stream keyed by set and sample, so that image i is the same
// whichever thread draws it and whatever was drawn before.
#pragma once

#include <array>
#include <cstdint>

#include "engine/random.h"

namespace warpline {

class Draws {
 public:
  Draws(std::uint64_t key, std::int64_t sample) : key_(key), sample_(static_cast<std::uint64_t>(sample)) {}

  std::uint32_t bits() {
    if (used_ == words_.size()) {
      words_ = philox4x32({block_++, 0, low(sample_), high(sample_)}, {low(key_), high(key_)});
      used_ = 0;
    }
    return words_[used_++];
  }
  // Uniform in [low, high): 24 bits, which a float holds exactly.
  float between(float low, float high) {
    return low + (high - low) * (static_cast<float>(bits() >> 8) * 0x1p-24F);
  }
  // Uniform in 0 .. count - 1; a bias of count / 2^32 does not matter for a drawing.
  int below(int count) {
    return static_cast<int>((std::uint64_t{bits()} * static_cast<std::uint64_t>(count)) >> 32);
  }

 private:
  static std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
  static std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

  std::uint64_t key_, sample_;
  std::uint32_t block_ = 0;
  std::array<std::uint32_t, 4> words_{};
  std::size_t used_ = 4;
};

}  // namespace warpline
