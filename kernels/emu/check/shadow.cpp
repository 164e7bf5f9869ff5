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

}  // namespace

Shadow::Shadow(std::size_t bytes)
    : bytes_(bytes), states_(reserve<ByteState>(bytes)), words_(reserve<Word>(bytes / 4 + 1)) {}

Shadow::~Shadow() {
  munmap(states_, bytes_ * sizeof(ByteState));
  munmap(words_, (bytes_ / 4 + 1) * sizeof(Word));
}

}  // namespace warpline::emu::check
