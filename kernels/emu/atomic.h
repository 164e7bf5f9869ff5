// CUDA's atomic functions: relaxed, on global and shared memory; each returns what was there before.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace warpline::emu {

namespace detail {

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

// T, said by the address alone: `atomicAdd(&sum, 1)` adds 1 to whatever the sum is.
template <class T>
struct SameAs {
  using type = T;
};
template <class T>
using Same = typename SameAs<T>::type;

// Replaces what is there by change(what is there).
template <class T, class Change>
T atomic_change(T* address, Change change) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics work on 4 or 8 bytes");
  auto* const word = reinterpret_cast<Bits<T>*>(address);
  Bits<T> before = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (true) {
    T value;
    std::memcpy(&value, &before, sizeof(T));
    const T changed = change(value);
    Bits<T> after;
    std::memcpy(&after, &changed, sizeof(T));
    if (__atomic_compare_exchange_n(word, &before, after, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return value;
  }
}

}  // namespace detail

template <class T>
T atomicAdd(T* address, detail::Same<T> value) {
  return detail::atomic_change(address, [=](T before) { return before + value; });
}
template <class T>
T atomicSub(T* address, detail::Same<T> value) {
  return detail::atomic_change(address, [=](T before) { return before - value; });
}
template <class T>
T atomicMin(T* address, detail::Same<T> value) {
  return detail::atomic_change(address, [=](T before) { return value < before ? value : before; });
}
template <class T>
T atomicMax(T* address, detail::Same<T> value) {
  return detail::atomic_change(address, [=](T before) { return before < value ? value : before; });
}
template <class T>
T atomicAnd(T* address, detail::Same<T> value) {
  return detail::atomic_change(address, [=](T before) { return before & value; });
}
template <class T>
T atomicOr(T* address, detail::Same<T> value) {
  return detail::atomic_change(address, [=](T before) { return before | value; });
}
template <class T>
T atomicXor(T* address, detail::Same<T> value) {
  return detail::atomic_change(address, [=](T before) { return before ^ value; });
}
template <class T>
T atomicExch(T* address, detail::Same<T> value) {
  return detail::atomic_change(address, [=](T) { return value; });
}
template <class T>
T atomicCAS(T* address, detail::Same<T> compare, detail::Same<T> value) {
  return detail::atomic_change(address, [=](T before) { return before == compare ? value : before; });
}
// Counts up to `most`, then from 0 again; down from it, likewise.
inline unsigned atomicInc(unsigned* address, unsigned most) {
  return detail::atomic_change(address, [=](unsigned before) { return before >= most ? 0 : before + 1; });
}
inline unsigned atomicDec(unsigned* address, unsigned most) {
  return detail::atomic_change(
      address, [=](unsigned before) { return before == 0 || before > most ? most : before - 1; });
}

}  // namespace warpline::emu
