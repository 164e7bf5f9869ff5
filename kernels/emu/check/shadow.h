// What the checks remember of each byte and of each four bytes of a memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/emu/check/program.h"

namespace warpline::emu::check {

enum class ByteState : std::uint8_t { Unowned, Unwritten, Written };

struct Access {
  std::uint32_t work = 0;  // number of the launch or copy; 0: none
  std::uint32_t block = 0;
  std::uint32_t stamp = 0;
  CodeOffset site = 0;
  std::uint16_t thread = 0;
  std::uint8_t bytes = 0;  // of the four, a bit each
  std::uint8_t atomic = 0;
};

struct Word {
  Access write, read, other_read;  // other_read: the last one by another thread than that of read
  std::uint32_t tag = 0;           // shared memory: of the block that it is of
};
static_assert(sizeof(Word) == 64);

// Of `bytes` bytes. Its pages cost nothing until they are touched.
class Shadow {
 public:
  explicit Shadow(std::size_t bytes);
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  ByteState* states(std::size_t offset) { return states_ + offset; }
  Word& word(std::size_t offset) { return words_[offset / 4]; }

 private:
  std::size_t bytes_;
  ByteState* states_;
  Word* words_;
};

}  // namespace warpline::emu::check
