// An array with canary elements before and behind, so that a kernel that writes outside shows in every build,
// not only under a sanitizer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <map>
#include <mutex>
#include <vector>

namespace warpline::test {

// The memory of a Guarded array: canaries, data, canaries.
struct HostArray {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  std::byte* data = nullptr;
  std::size_t data_bytes = 0;

  // Of all that are alive. begin is null where there is none; the address may be one past the data.
  static HostArray that_holds(const std::byte* address) {
    const std::lock_guard lock(mutex());
    const auto after = alive().upper_bound(address);
    if (after == alive().begin()) return {};
    const HostArray& array = std::prev(after)->second;
    return address < array.begin + array.bytes ? array : HostArray{};
  }
  static void add(const HostArray& array) {
    const std::lock_guard lock(mutex());
    alive()[array.begin] = array;
  }
  static void remove(const std::byte* begin) {
    const std::lock_guard lock(mutex());
    alive().erase(begin);
  }

 private:
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  static std::map<const std::byte*, HostArray>& alive() {
    static std::map<const std::byte*, HostArray> instance;
    return instance;
  }
};

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
    enlist();
  }
  Guarded(const Guarded& other) : size_(other.size_), front_(other.front_), storage_(other.storage_) {
    enlist();
  }
  Guarded& operator=(const Guarded& other) {
    HostArray::remove(bytes());
    size_ = other.size_;
    front_ = other.front_;
    storage_ = other.storage_;
    enlist();
    return *this;
  }
  ~Guarded() { HostArray::remove(bytes()); }
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

  std::byte* bytes() { return reinterpret_cast<std::byte*>(storage_.data()); }
  void enlist() {
    HostArray::add({bytes(), storage_.size() * sizeof(T), reinterpret_cast<std::byte*>(data()),
                    static_cast<std::size_t>(size_) * sizeof(T)});
  }

  std::int64_t size_, front_;
  std::vector<T> storage_;
};

}  // namespace warpline::test
