// An array with canary elements before and behind, so that a kernel that writes outside shows in every build,
// not only under a sanitizer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

namespace warpline::test {

template <class T>
class Guarded {
 public:
  // `shift` moves the first element off the 16-byte boundary that the allocator gives: a micro-batch slice of
  // rows of 785 floats starts anywhere.
  explicit Guarded(std::int64_t size, T value = T{}, std::int64_t shift = 0)
      : size_(size),
        front_(kGuard + shift),
        storage_(static_cast<std::size_t>(front_ + size + kGuard), canary()) {
    std::fill(begin(), end(), value);
  }
  Guarded(std::initializer_list<T> values) : Guarded(static_cast<std::int64_t>(values.size())) {
    std::copy(values.begin(), values.end(), begin());
  }

  std::int64_t size() const { return size_; }
  T* data() { return storage_.data() + front_; }
  const T* data() const { return storage_.data() + front_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::int64_t i) { return data()[i]; }
  const T& operator[](std::int64_t i) const { return data()[i]; }

  bool intact() const {
    const T expected = canary();
    const auto same = [&](const T& value) { return std::memcmp(&value, &expected, sizeof(T)) == 0; };
    return std::all_of(storage_.data(), data(), same) &&
           std::all_of(end(), storage_.data() + storage_.size(), same);
  }

  // The numbers alone, for comparisons of whole results.
  std::vector<T> values() const { return {begin(), end()}; }

 private:
  static constexpr std::int64_t kGuard = 64 / sizeof(T);
  static T canary() {
    T value;
    std::memset(&value, 0xa5, sizeof(T));
    return value;
  }

  std::int64_t size_, front_;
  std::vector<T> storage_;
};

}  // namespace warpline::test
