#include "kernels/emu/runtime.h"

#include <cstring>
#include <mutex>
#include <string_view>
#include <vector>

#include "kernels/emu/check/checker.h"
#include "kernels/emu/memory.h"
#include "kernels/emu/queue.h"
#include "kernels/poison.h"

namespace warpline::emu {

namespace {

class EmuRuntime : public Runtime {
 public:
  void* allocate(int device, std::size_t bytes) override {
    void* data = device_memory(device).allocate(bytes);
    if (data != nullptr) poison(data, bytes);
    return data;
  }
  void release(int device, void* data, std::size_t bytes) noexcept override {
    unpoison(data, bytes);
    device_memory(device).release(data);
  }

  void* open_stream(int device, ThreadPool* pool) override { return Queue::open(device, pool).get(); }
  void close_stream(void* native) noexcept override { static_cast<Queue*>(native)->close(); }
  void synchronize(const Stream& stream) override {
    if (Queue* queue = queue_of(stream)) queue->synchronize();
  }
  void wait(const Stream& later, const Stream& earlier) override {
    if (queue_of(later) != nullptr && queue_of(earlier) != nullptr)
      queue_of(later)->wait_for(*queue_of(earlier));
  }

  void host_to_device(void* to, const void* from, std::size_t bytes, const Stream& stream) override {
    if (bytes == 0) return;
    const auto* first = static_cast<const std::byte*>(from);
    put(stream, [to, staged = std::vector(first, first + bytes)](const Moment&) {
      std::memcpy(to, staged.data(), staged.size());
    });
  }
  void device_to_device(void* to, const void* from, std::size_t bytes, const Stream& stream) override {
    if (bytes != 0) put(stream, [=](const Moment&) { std::memmove(to, from, bytes); });
  }
  void zero(void* data, std::size_t bytes, const Stream& stream) override {
    if (bytes != 0) put(stream, [=](const Moment&) { std::memset(data, 0, bytes); });
  }
  void device_to_host(void* to, const void* from, std::size_t bytes) override {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }

  void claim(void* data, std::size_t bytes, const Stream& stream) override {
    if (poisons()) put(stream, [=](const Moment&) { unpoison(data, bytes); });
  }
  void disclaim(void* data, std::size_t bytes, const Stream& stream) noexcept override {
    if (poisons()) put(stream, [=](const Moment&) { poison(data, bytes); });
  }

 private:
  static Queue* queue_of(const Stream& stream) { return static_cast<Queue*>(stream.native); }
};

// The same, and tells the checker.
class CheckedRuntime final : public EmuRuntime {
 public:
  void host_to_device(void* to, const void* from, std::size_t bytes, const Stream& stream) override {
    note(bytes, "a copy from the host", stream, [=](check::Checker& checker) { checker.copy_in(to, bytes); });
    EmuRuntime::host_to_device(to, from, bytes, stream);
  }
  void device_to_device(void* to, const void* from, std::size_t bytes, const Stream& stream) override {
    note(bytes, "a copy", stream, [=](check::Checker& checker) { checker.copy_within(to, from, bytes); });
    EmuRuntime::device_to_device(to, from, bytes, stream);
  }
  void zero(void* data, std::size_t bytes, const Stream& stream) override {
    note(bytes, "a fill with zeros", stream, [=](check::Checker& checker) { checker.copy_in(data, bytes); });
    EmuRuntime::zero(data, bytes, stream);
  }
  void claim(void* data, std::size_t bytes, const Stream& stream) override {
    EmuRuntime::claim(data, bytes, stream);
    put(stream, [=](const Moment&) {
      check::Checker& checker = check::Checker::instance();
      const std::lock_guard lock(checker.mutex());
      checker.claim(stream.device.index, data, bytes);
    });
  }
  // What reads the block from now on gets NaN.
  void disclaim(void* data, std::size_t bytes, const Stream& stream) noexcept override {
    put(stream, [=](const Moment&) {
      check::Checker& checker = check::Checker::instance();
      const std::lock_guard lock(checker.mutex());
      checker.disclaim(stream.device.index, data, bytes);
      if (!poisons()) std::memset(data, 0xff, bytes);  // else poison() does, past the bytes asked for as well
    });
    EmuRuntime::disclaim(data, bytes, stream);
  }

 private:
  template <class Tell>
  static void note(std::size_t bytes, std::string_view what, const Stream& stream, Tell tell) {
    if (bytes == 0) return;
    put(stream, [=](const Moment& moment) {
      check::Checker& checker = check::Checker::instance();
      const std::lock_guard lock(checker.mutex());
      checker.begin_work(what, stream.device.index, moment);
      tell(checker);
      checker.end_work(moment);
    });
  }
};

}  // namespace

Runtime& runtime() {
  static EmuRuntime instance;
  return instance;
}

Runtime& checked_runtime() {
  static CheckedRuntime instance;
  return instance;
}

}  // namespace warpline::emu
