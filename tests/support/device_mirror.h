// Runs a kernel of a device target on arrays of the host: each Guarded array goes to the device with its
// canaries, and comes back after the kernel. On checked devices only the array's own bytes are owned.
#pragma once

#include <cstddef>
#include <map>
#include <type_traits>

#include "kernels/args.h"
#include "kernels/runtime.h"
#include "tests/support/guarded.h"

namespace warpline::test {

inline bool is_host(DeviceKind kind) { return kind == DeviceKind::Ref || kind == DeviceKind::Cpu; }

class DeviceMirror {
 public:
  explicit DeviceMirror(const Stream& stream) : stream_(stream), runtime_(runtime(stream.device.kind)) {}
  ~DeviceMirror();
  DeviceMirror(const DeviceMirror&) = delete;
  DeviceMirror& operator=(const DeviceMirror&) = delete;

  // What the kernel gets for an argument: pointers into Guarded arrays become device pointers, and so does a
  // pointer to a single TargetError; all else stays.
  template <class T>
  T translate(T argument) {
    if constexpr (std::is_pointer_v<T>) {
      using Element = std::remove_pointer_t<T>;
      constexpr std::size_t kElement =
          std::is_same_v<std::remove_cv_t<Element>, TargetError> ? sizeof(TargetError) : 0;
      return static_cast<T>(
          const_cast<std::remove_cv_t<Element>*>(static_cast<const Element*>(to_device(argument, kElement))));
    } else {
      return argument;
    }
  }

  // Waits for the kernel and brings everything back.
  void finish();

 private:
  struct Block {
    HostArray host;
    std::byte* device = nullptr;
  };
  void* to_device(const void* data, std::size_t bytes_if_unknown);

  const Stream& stream_;
  Runtime& runtime_;
  std::map<std::byte*, Block> blocks_;  // by the host array's first byte
};

}  // namespace warpline::test
