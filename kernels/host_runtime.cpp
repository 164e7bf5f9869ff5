#include "kernels/host_runtime.h"

#include <cstring>
#include <new>

#include "kernels/poison.h"

namespace warpline {
namespace {

constexpr std::align_val_t kAlignment{64};

class HostRuntime final : public Runtime {
 public:
  void* allocate(int, std::size_t bytes) override {
    void* data = ::operator new(bytes, kAlignment, std::nothrow);
    if (data != nullptr) poison(data, bytes);
    return data;
  }
  void release(int, void* data, std::size_t bytes) noexcept override {
    unpoison(data, bytes);
    ::operator delete(data, kAlignment);
  }

  void* open_stream(int, ThreadPool*) override { return nullptr; }
  void close_stream(void*) noexcept override {}
  void synchronize(const Stream&) override {}
  void wait(const Stream&, const Stream&) override {}

  // Empty tensors have no bytes to touch.
  void host_to_device(void* to, const void* from, std::size_t bytes, const Stream&) override {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }
  void device_to_device(void* to, const void* from, std::size_t bytes, const Stream&) override {
    if (bytes != 0) std::memmove(to, from, bytes);
  }
  void zero(void* data, std::size_t bytes, const Stream&) override {
    if (bytes != 0) std::memset(data, 0, bytes);
  }
  void device_to_host(void* to, const void* from, std::size_t bytes) override {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }

  void claim(void* data, std::size_t bytes, const Stream&) override { unpoison(data, bytes); }
  void disclaim(void* data, std::size_t bytes, const Stream&) noexcept override { poison(data, bytes); }
};

}  // namespace

Runtime& host_runtime() {
  static HostRuntime instance;
  return instance;
}

}  // namespace warpline
