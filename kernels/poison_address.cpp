#include <cstring>

#include <sanitizer/asan_interface.h>

#include "kernels/poison.h"

namespace warpline {

void poison(void* data, std::size_t bytes) {
  __asan_unpoison_memory_region(data, bytes);
  std::memset(data, 0xff, bytes);  // NaN as float32 and float64, -1 as an integer
  __asan_poison_memory_region(data, bytes);
}

void unpoison(void* data, std::size_t bytes) { __asan_unpoison_memory_region(data, bytes); }
bool poisons() { return true; }

}  // namespace warpline
