// Address space of any size of which only the touched pages exist; all zeros at first. For offsets past 2^31
// elements on machines without that memory.
#pragma once

#include <cstdint>

#include <sys/mman.h>

namespace warpline::test {

template <class T>
class SparseMemory {
 public:
  explicit SparseMemory(std::int64_t size) : bytes_(static_cast<std::size_t>(size) * sizeof(T)) {
    void* const address =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address != MAP_FAILED) data_ = static_cast<T*>(address);
  }
  ~SparseMemory() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;

  T* data() { return data_; }  // null where the system commits no more than it has
  T& operator[](std::int64_t i) { return data_[i]; }

 private:
  std::size_t bytes_;
  T* data_ = nullptr;
};

}  // namespace warpline::test
