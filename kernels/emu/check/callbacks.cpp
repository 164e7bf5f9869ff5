// What the compiler calls for each memory access under -fsanitize=thread, for an index that -fsanitize=bounds
// finds outside its array, and for each basic block. The build
// renames these calls of checked kernels (symbols.txt), so that a build with the real ThreadSanitizer still
// watches the host's code.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/emu/check/hot_path.h"
#include "kernels/emu/memory.h"
#include "kernels/emu/watcher.h"

namespace {

using warpline::emu::device_range;
using warpline::emu::running_follower;
using warpline::emu::running_watcher;
using warpline::emu::check::Checker;
using warpline::emu::check::running_checker;

// Of the host's code in the same sources: nobody watches it, but it must not reach into a device.
inline void check_host(const void* address, std::size_t bytes, bool writes, void* return_address) {
  if (device_range.holds(address)) {
    Checker::instance().host_access(
        {.address = address, .bytes = bytes, .writes = writes, .return_address = return_address});
  }
}

// Not inline, for what calls it at its end to need no frame.
[[gnu::noinline]] void check(const void* address, std::size_t bytes, bool writes, bool aligned,
                             void* return_address) {
  if (running_watcher != nullptr) {
    running_watcher->access({address, bytes, writes, false, aligned, return_address});
  } else {
    check_host(address, bytes, writes, return_address);
  }
}

[[gnu::noinline]] void check_elsewhere(const void* address, std::size_t bytes, bool writes,
                                       void* return_address) {
  if (!running_checker->is_own(address, writes)) check(address, bytes, writes, true, return_address);
}

// Of a kernel that is checked, and not counted, the short way first.
template <bool kWrites, std::size_t kBytes>
inline void check_words(const void* address, void* return_address) {
  if (Checker* const checker = running_checker; checker != nullptr) {
    Checker::Spot spot;
    if (!checker->find(address, spot)) return check_elsewhere(address, kBytes, kWrites, return_address);
    if (checker->access_words<kWrites, kBytes>(address, spot, return_address)) return;
  }
  check(address, kBytes, kWrites, true, return_address);
}

inline void check_atomic(const volatile void* address, std::size_t bytes, bool writes, void* return_address) {
  if (running_watcher != nullptr) {
    running_watcher->access({const_cast<const void*>(address), bytes, writes, true, true, return_address});
  } else {
    check_host(const_cast<const void*>(address), bytes, writes, return_address);
  }
}

// As both compilers lay them out for UBSan (compiler-rt, ubsan_value.h and ubsan_handlers.h).
struct TypeDescriptor {
  std::uint16_t kind, info;  // of an integer: is it signed, and above that bit the logarithm of its bits
  char name[1];              // "'int [32]'", longer than that
};
struct OutOfBounds {
  const char* file;
  std::uint32_t line, column;
  const TypeDescriptor *array, *index;
};

}  // namespace

extern "C" {

void warpline_check_out_of_bounds(const OutOfBounds* access, std::uintptr_t index) {
  const unsigned unused = 64 - (1U << (access->index->info >> 1));
  const bool is_signed = (access->index->info & 1) != 0;
  Checker::instance().bad_index(
      static_cast<const char*>(access->array->name),
      is_signed ? static_cast<std::int64_t>(index << unused) >> unused : static_cast<std::int64_t>(index),
      __builtin_return_address(0));
}

void warpline_check_init() {}
void warpline_check_func_entry(void*) {}
void warpline_check_func_exit() {}
void warpline_check_vptr_update(void**, void*) {}
void warpline_check_vptr_read(void**) {}

// Of -fsanitize-coverage=trace-pc: at the beginning of each basic block.
void warpline_check_trace_pc() {
  if (running_follower != nullptr) running_follower->enter(__builtin_return_address(0));
}

#define WARPLINE_CHECK_SIZE(size)                                   \
  void warpline_check_read##size(void* address) {                   \
    check(address, size, false, true, __builtin_return_address(0)); \
  }                                                                 \
  void warpline_check_write##size(void* address) {                  \
    check(address, size, true, true, __builtin_return_address(0));  \
  }                                                                 \
  WARPLINE_CHECK_OTHERS(size)
#define WARPLINE_CHECK_WORDS(size)                                    \
  void warpline_check_read##size(void* address) {                     \
    check_words<false, (size)>(address, __builtin_return_address(0)); \
  }                                                                   \
  void warpline_check_write##size(void* address) {                    \
    check_words<true, (size)>(address, __builtin_return_address(0));  \
  }                                                                   \
  WARPLINE_CHECK_OTHERS(size)
#define WARPLINE_CHECK_OTHERS(size)                                  \
  void warpline_check_read_write##size(void* address) {              \
    check(address, size, false, true, __builtin_return_address(0));  \
    check(address, size, true, true, __builtin_return_address(0));   \
  }                                                                  \
  void warpline_check_unaligned_read##size(void* address) {          \
    check(address, size, false, false, __builtin_return_address(0)); \
  }                                                                  \
  void warpline_check_unaligned_write##size(void* address) {         \
    check(address, size, true, false, __builtin_return_address(0));  \
  }                                                                  \
  void warpline_check_unaligned_read_write##size(void* address) {    \
    check(address, size, false, false, __builtin_return_address(0)); \
    check(address, size, true, false, __builtin_return_address(0));  \
  }

WARPLINE_CHECK_SIZE(1)
WARPLINE_CHECK_SIZE(2)
WARPLINE_CHECK_WORDS(4)
WARPLINE_CHECK_WORDS(8)
WARPLINE_CHECK_WORDS(16)

void warpline_check_read_range(void* address, std::size_t bytes) {
  check(address, bytes, false, false, __builtin_return_address(0));
}
void warpline_check_write_range(void* address, std::size_t bytes) {
  check(address, bytes, true, false, __builtin_return_address(0));
}

// The compiler makes these of plain copies and fills.
void* warpline_check_memcpy(void* to, const void* from, std::size_t bytes) {
  check(from, bytes, false, false, __builtin_return_address(0));
  check(to, bytes, true, false, __builtin_return_address(0));
  return std::memcpy(to, from, bytes);
}
void* warpline_check_memmove(void* to, const void* from, std::size_t bytes) {
  check(from, bytes, false, false, __builtin_return_address(0));
  check(to, bytes, true, false, __builtin_return_address(0));
  return std::memmove(to, from, bytes);
}
void* warpline_check_memset(void* to, int value, std::size_t bytes) {
  check(to, bytes, true, false, __builtin_return_address(0));
  return std::memset(to, value, bytes);
}

#define WARPLINE_CHECK_FETCH(bits, name, builtin)                                                 \
  std::uint##bits##_t warpline_check_atomic##bits##_##name(volatile std::uint##bits##_t* address, \
                                                           std::uint##bits##_t value, int) {      \
    check_atomic(address, (bits) / 8, true, __builtin_return_address(0));                         \
    return builtin(address, value, __ATOMIC_SEQ_CST);                                             \
  }
#define WARPLINE_CHECK_EXCHANGE(bits, name)                                                                  \
  int warpline_check_atomic##bits##_compare_exchange_##name(volatile std::uint##bits##_t* address,           \
                                                            std::uint##bits##_t* expected,                   \
                                                            std::uint##bits##_t value, int, int) {           \
    check_atomic(address, (bits) / 8, true, __builtin_return_address(0));                                    \
    return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }
#define WARPLINE_CHECK_BITS(bits)                                                                            \
  std::uint##bits##_t warpline_check_atomic##bits##_load(const volatile std::uint##bits##_t* address, int) { \
    check_atomic(address, (bits) / 8, false, __builtin_return_address(0));                                   \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                                       \
  }                                                                                                          \
  void warpline_check_atomic##bits##_store(volatile std::uint##bits##_t* address, std::uint##bits##_t value, \
                                           int) {                                                            \
    check_atomic(address, (bits) / 8, true, __builtin_return_address(0));                                    \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                          \
  WARPLINE_CHECK_FETCH(bits, exchange, __atomic_exchange_n)                                                  \
  WARPLINE_CHECK_FETCH(bits, fetch_add, __atomic_fetch_add)                                                  \
  WARPLINE_CHECK_FETCH(bits, fetch_sub, __atomic_fetch_sub)                                                  \
  WARPLINE_CHECK_FETCH(bits, fetch_and, __atomic_fetch_and)                                                  \
  WARPLINE_CHECK_FETCH(bits, fetch_or, __atomic_fetch_or)                                                    \
  WARPLINE_CHECK_FETCH(bits, fetch_xor, __atomic_fetch_xor)                                                  \
  WARPLINE_CHECK_FETCH(bits, fetch_nand, __atomic_fetch_nand)                                                \
  WARPLINE_CHECK_EXCHANGE(bits, strong)                                                                      \
  WARPLINE_CHECK_EXCHANGE(bits, weak)                                                                        \
  std::uint##bits##_t warpline_check_atomic##bits##_compare_exchange_val(                                    \
      volatile std::uint##bits##_t* address, std::uint##bits##_t expected, std::uint##bits##_t value, int,   \
      int) {                                                                                                 \
    check_atomic(address, (bits) / 8, true, __builtin_return_address(0));                                    \
    __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
    return expected;                                                                                         \
  }

WARPLINE_CHECK_BITS(8)
WARPLINE_CHECK_BITS(16)
WARPLINE_CHECK_BITS(32)
WARPLINE_CHECK_BITS(64)

void warpline_check_atomic_thread_fence(int) {}
void warpline_check_atomic_signal_fence(int) {}

}  // extern "C"
