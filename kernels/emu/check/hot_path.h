// The way that nearly every access takes: to words that checked accesses have written, so that only order is
// left to check, or to what is the thread's own. In a header, for the callbacks to hold it without a call;
// all else is in checker.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/emu/check/checker.h"

namespace warpline::emu::check {

// Spots stay in registers so.
#define WARPLINE_HOT __attribute__((always_inline)) inline

// 4, 8 or 16 bytes.
template <std::size_t kBytes>
bool are_written(const ByteState* states) {
  using Bits = std::conditional_t<kBytes == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
  constexpr Bits kAll = static_cast<Bits>(~Bits{0}) / 0xff * static_cast<Bits>(ByteState::Written);
  for (std::size_t i = 0; i < kBytes; i += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, states + i, sizeof bits);
    if (bits != kAll) return false;
  }
  return true;
}

// Does whoever writes there conflict with one of the two reads that are kept, wherever it would with one by
// the running thread? They are by two blocks of the launch, or by two warps with no barrier since, or by two
// threads of the running one's warp with no sync since.
WARPLINE_HOT bool Checker::reads_stand_for_all(const Word& word) const {
  const Stamp other = word.other_read.stamp;  // the older one
  switch (word.readers) {
    case Readers::Blocks:
      return other >= work_stamp_;
    case Readers::Warps:
      return other >= barrier_stamp_;
    case Readers::Warp:
      return other == stamp_ && word.read.warp() == thread_ / kWarp;
    case Readers::Unknown:
      return false;
  }
  return false;
}

WARPLINE_HOT void Checker::remember_write(Word& word, unsigned bytes, bool atomic,
                                          const void* return_address) const {
  word.write = {stamp_, code_offset(return_address, loaded_at_), Access::how_by(thread_, atomic, bytes)};
}

WARPLINE_HOT void Checker::remember_read(Word& word, unsigned bytes, bool atomic,
                                         const void* return_address) const {
  if (!reads_stand_for_all(word)) keep_read(word, Access::how_by(thread_, atomic, bytes), return_address);
}

// By the address alone: what lies in shared memory's range may still be another thread-local variable.
WARPLINE_HOT bool Checker::find(const void* address, Spot& spot) const {
  const auto* const byte = static_cast<const char*>(address);
  if (const auto offset = static_cast<std::size_t>(byte - memory_begin_); offset < memory_bytes_) {
    spot = {memory_shadow_, offset, 0, ordered_stamp_, false};
    return true;
  }
  if (const std::size_t offset = arrays_.dynamic_offset(byte); offset < kMostSharedBytes) {
    spot = {dynamic_shared_.get(), offset, block_stamp_, barrier_stamp_, false};
    return true;
  }
  const std::size_t offset = arrays_.static_offset(byte);
  spot = {static_shared_.get(), offset, block_stamp_, barrier_stamp_, true};
  return offset < arrays_.static_bytes();
}

// False: not of this kind, or ordered in another way if it is at all, and nothing is done.
template <bool kWrites, std::size_t kBytes>
WARPLINE_HOT bool Checker::access_words(const void* address, const Spot& spot, const void* return_address) {
  const std::size_t offset = spot.offset;
  if (reinterpret_cast<std::uintptr_t>(address) % kBytes != 0 || offset % sizeof(std::uint32_t) != 0)
    return false;
  if (kBytes > sizeof(std::uint32_t) && spot.of_arrays && !arrays_.are_in_one(offset, offset + kBytes - 1))
    return false;
  const bool shared = spot.first != 0;
  if (!shared && !are_written<kBytes>(spot.shadow->states(offset))) return false;
  const auto follows = [&](const Access& before) {
    if (before.stamp < spot.ordered) return true;
    if (before.stamp < block_stamp_) return false;
    return before.stamp < barrier_stamp_ || before.thread() == thread_;
  };
  Word* const words = &spot.shadow->word(offset);
  Word* const end = words + kBytes / sizeof(std::uint32_t);
  for (const Word* word = words; word != end; ++word) {
    if (word->write.stamp < spot.first || !follows(word->write)) return false;
    if (kWrites && (!follows(word->read) || !follows(word->other_read))) return false;
    // A write to the whole of it by this block says the same, and is at hand.
    if (shared && word->write.bytes() != 0xf && !are_written<kBytes>(spot.shadow->states(offset)))
      return false;
  }
  for (Word* word = words; word != end; ++word) {
    if (kWrites) {
      remember_write(*word, 0xf, false, return_address);
    } else {
      remember_read(*word, 0xf, false, return_address);
    }
  }
  return true;
}

#undef WARPLINE_HOT

}  // namespace warpline::emu::check
