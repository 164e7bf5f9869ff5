// The way that nearly every access takes: four bytes that a checked access has written, so that only order is
// left to check. In a header, for the callbacks to hold it without a call; all else is in checker.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/emu/check/checker.h"

namespace warpline::emu::check {

// Spaces stay in registers so.
#define WARPLINE_HOT __attribute__((always_inline)) inline

constexpr std::uint32_t kWarp = 32;
constexpr std::uint16_t kHost = 0xffff;  // a copy's thread

// Bytes of Written, as many as an access of the compiler's has at most.
template <class Bits>
bool are_written(const ByteState* states) {
  constexpr Bits kAll = static_cast<Bits>(~Bits{0}) / 0xff * static_cast<Bits>(ByteState::Written);
  Bits bits;
  std::memcpy(&bits, states, sizeof bits);
  return bits == kAll;
}

// By the address alone: what lies in shared memory's range may still be another thread-local variable.
WARPLINE_HOT bool Checker::find(const void* address, Space& space) const {
  const auto* const byte = static_cast<const char*>(address);
  if (const auto offset = static_cast<std::size_t>(byte - memory_begin_); offset < memory_bytes_) {
    space = {memory_shadow_, offset, false};
    return true;
  }
  if (const std::size_t offset = arrays_.dynamic_offset(byte); offset < kMostSharedBytes) {
    space = {dynamic_shared_.get(), offset, true};
    return true;
  }
  const std::size_t offset = arrays_.static_offset(byte);
  space = {static_shared_.get(), offset, true};
  return offset < arrays_.static_bytes();
}

WARPLINE_HOT bool Checker::work_ordered(std::uint32_t before) const {
  std::uint32_t& known = ordered_works_[before % ordered_works_.size()];
  if (before == known) return true;
  const Work& work = work_of(before);
  const bool ordered = work_ - before >= kWorksKept || clock_.at(work.queue) >= work.position;
  if (ordered) known = before;
  return ordered;
}

WARPLINE_HOT bool Checker::ordered(const Access& before) const {
  if (before.work != work_) return work_ordered(before.work);
  if (before.thread == kHost) return true;
  if (before.block != block_) return false;
  if (before.thread == thread_ || before.stamp < barrier_stamp_) return true;
  return before.thread / kWarp == thread_ / kWarp && before.stamp < pair_stamp(before.thread, thread_);
}

WARPLINE_HOT void Checker::remember(Word& word, bool writes, std::uint8_t bytes, bool atomic,
                                    const void* return_address) const {
  // Two reads by different warps since the last barrier: whoever writes, one of them is not ordered before
  // it.
  const auto stands_for_all = [&](const Access& read) {
    return read.work == work_ && read.stamp >= barrier_stamp_ && read.bytes == 0xf && read.atomic == 0;
  };
  if (!writes && stands_for_all(word.read) && stands_for_all(word.other_read) &&
      word.read.thread / kWarp != word.other_read.thread / kWarp)
    return;
  const bool same = word.read.thread == thread_ && word.read.block == block_ && word.read.work == work_;
  if (!writes && !same) word.other_read = word.read;
  Access& now = writes ? word.write : word.read;
  now.work = work_;
  now.block = block_;
  now.stamp = stamp_;
  now.site = code_offset(return_address, loaded_at_);
  now.thread = static_cast<std::uint16_t>(thread_);
  now.bytes = bytes;
  now.atomic = static_cast<std::uint8_t>(atomic);
}

// False: not of this kind, or a race, and nothing is done.
template <bool kWrites>
WARPLINE_HOT bool Checker::access_word(const void* address, const void* return_address) {
  Space space;
  if (!find(address, space) || space.offset % sizeof(std::uint32_t) != 0) return false;
  Word& word = space.shadow->word(space.offset);
  if (space.shared && word.tag != tag_) return false;
  if (!are_written<std::uint32_t>(space.shadow->states(space.offset))) return false;
  const auto follows = [&](const Access& before) { return before.work == 0 || ordered(before); };
  if (!follows(word.write)) return false;
  if (kWrites && (!follows(word.read) || !follows(word.other_read))) return false;
  remember(word, kWrites, 0xf, false, return_address);
  return true;
}

#undef WARPLINE_HOT

}  // namespace warpline::emu::check
