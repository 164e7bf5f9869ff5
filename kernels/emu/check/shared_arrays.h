// The shared memory of the running block: `__shared__` arrays, which are thread-local storage of the program,
// and the dynamic array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/emu/check/program.h"
#include "kernels/emu/warp_call.h"

namespace warpline::emu::check {

class SharedArrays {
 public:
  // On the OS thread that runs the kernel.
  void begin_kernel();

  // In thread-local storage: BuiltIn are the emulator's own variables, such as threadIdx.
  enum class Kind : std::uint8_t { None, BuiltIn, Static, Dynamic };
  struct Place {
    Kind kind = Kind::None;
    std::size_t offset = 0;  // in thread-local storage, or in the dynamic array: perhaps past its end
  };
  Place find(const void* address) const {
    const auto* const byte = static_cast<const char*>(address);
    // Thread-local itself, so it comes first.
    if (const std::size_t offset = dynamic_offset(byte); offset < kMostSharedBytes)
      return {Kind::Dynamic, offset};
    const std::size_t offset = static_offset(byte);
    if (offset >= locals_.bytes) return {};
    const std::int32_t local = local_at_[offset];
    return {local >= 0 && built_in_[static_cast<std::size_t>(local)] ? Kind::BuiltIn : Kind::Static, offset};
  }

  std::size_t dynamic_offset(const char* byte) const {
    return static_cast<std::size_t>(byte - dynamic_begin_);
  }
  std::size_t static_offset(const char* byte) const { return static_cast<std::size_t>(byte - locals_.begin); }

  // Which array holds that byte of thread-local storage; null: none.
  const Variable* array_at(std::size_t offset) const;
  // Are both bytes of it those of one array?
  bool are_in_one(std::size_t offset, std::size_t other) const {
    return offset < local_at_.size() && other < local_at_.size() && local_at_[offset] >= 0 &&
           local_at_[offset] == local_at_[other];
  }
  std::size_t static_bytes() const { return locals_.bytes; }

 private:
  ThreadLocalBlock locals_;
  std::vector<std::int32_t> local_at_;  // which of thread_locals() each byte is of, or -1
  std::vector<char> built_in_;          // is it one of the emulator's own?
  const char* dynamic_begin_ = nullptr;
};

}  // namespace warpline::emu::check
