#include "kernels/emu/check/shadow.h"

#include <cerrno>
#include <cstring>

#include <sys/mman.h>

#include "kernels/error.h"

namespace warpline::emu::check {

namespace {

template <class T>
T* reserve(std::size_t count) {
  void* range = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    fail<Failure>("emu", "the checks need {} bytes of addresses ({}); set WARPLINE_EMU_MEMORY to less",
                  count * sizeof(T), std::strerror(errno));
  }
  return static_cast<T*>(range);
}

// An access that begins at the last byte ends behind it.
constexpr std::size_t kBehind = 64;

}  // namespace

Shadow::Shadow(std::size_t bytes)
    : bytes_(bytes),
      states_(reserve<ByteState>(bytes + kBehind)),
      words_(reserve<Word>((bytes + kBehind) / 4 + 1)) {}

// By giving their pages back, which read as zeros from then on.
void Shadow::clear_words() {
  if (madvise(words_, ((bytes_ + kBehind) / 4 + 1) * sizeof(Word), MADV_DONTNEED) != 0)
    fail<Failure>("emu", "cannot clear what the checks remember ({})", std::strerror(errno));
}

Shadow::~Shadow() {
  munmap(states_, (bytes_ + kBehind) * sizeof(ByteState));
  munmap(words_, ((bytes_ + kBehind) / 4 + 1) * sizeof(Word));
}

}  // namespace warpline::emu::check
