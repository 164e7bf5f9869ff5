// What the checks remember of each byte and of each four bytes of a memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/emu/check/program.h"

namespace warpline::emu::check {

enum class ByteState : std::uint8_t { Unowned, Unwritten, Written };

constexpr std::uint32_t kWarp = 32;
constexpr std::uint32_t kHost = (1U << 11) - 1;  // a copy's thread; a block has 1024 at most

// Packed, for a word of the shadow to be half a line of the caches.
struct [[gnu::packed]] Access {
  std::uint32_t stamp = 0;  // 0: none
  CodeOffset site = 0;
  // From the top: the thread, 11 bits; is it atomic; which of the four bytes, a bit each.
  std::uint16_t how = 0;

  static std::uint16_t how_by(std::uint32_t thread, bool atomic, unsigned bytes) {
    return static_cast<std::uint16_t>(thread << 5 | (atomic ? 1U << 4 : 0U) | bytes);
  }
  std::uint32_t thread() const { return how >> 5; }
  std::uint32_t warp() const { return thread() / kWarp; }
  bool atomic() const { return (how >> 4 & 1U) != 0; }
  unsigned bytes() const { return how & 0xfU; }
  bool is_plain() const { return (how & 0x1fU) == 0xf; }  // of the whole word, and not atomic
};

// Of two plain reads of one launch: are they by two blocks, by two warps, or by one?
enum class Readers : std::uint16_t { Unknown, Blocks, Warps, Warp };

struct alignas(32) Word {
  Access write, read, other_read;  // other_read: the last one by another thread than that of read
  Readers readers = Readers::Unknown;
};
static_assert(sizeof(Word) == 32);

// Of `bytes` bytes. Its pages cost nothing until they are touched.
class Shadow {
 public:
  explicit Shadow(std::size_t bytes);
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  ByteState* states(std::size_t offset) { return states_ + offset; }
  Word& word(std::size_t offset) { return words_[offset / 4]; }
  void clear_words();

 private:
  std::size_t bytes_;
  ByteState* states_;
  Word* words_;
};

}  // namespace warpline::emu::check
