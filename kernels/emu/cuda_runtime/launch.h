// What tools/emu-nvcc makes of `kernel<<<grid, block, shared_bytes, stream>>>(arguments...)`:
//
//     ::warpline::cuda::kernel("kernel", place, [=](auto f) -> decltype(f(kernel)) { return f(kernel); },
//                              [=](const auto&... a) { kernel(a...); })(grid, block, ...)(arguments...)
//
// The call stays the user's text, so templates, overloads and conversions of arguments are the language's.
// The first function gives the kernel's address, where its name alone says which kernel is meant.
#pragma once

#include <cstddef>
#include <type_traits>

#include "kernels/emu/cuda_runtime/driver_types.h"
#include "kernels/emu/cuda_runtime/vector_types.h"
#include "kernels/emu/site.h"

namespace warpline::cuda {

struct LaunchSite {
  const char* kernel;  // as the program spells it
  emu::Site site;
  const void* address;  // null: its name does not tell
};

struct LaunchShape {
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
};

// A kernel with its arguments, on the heap.
struct Body {
  void* object;
  std::size_t bytes;
  void (*run)(const void* object);
  void (*destroy)(void* object);
};

// Takes the body over. What is wrong with the launch is the next cudaGetLastError() as well.
cudaError_t launch(const LaunchSite& site, const LaunchShape& shape, const Body& body);

template <class Call>
class Configured {
 public:
  Configured(const LaunchSite& site, const LaunchShape& shape, const Call& call)
      : site_(site), shape_(shape), call_(call) {}

  template <class... Arguments>
  cudaError_t operator()(Arguments... arguments) const {
    auto body = [call = call_, arguments...] { call(arguments...); };
    using Object = decltype(body);
    return launch(site_, shape_,
                  {new Object(body), sizeof(Object),
                   [](const void* object) { (*static_cast<const Object*>(object))(); },
                   [](void* object) { delete static_cast<Object*>(object); }});
  }

 private:
  LaunchSite site_;
  LaunchShape shape_;
  Call call_;
};

struct AddressOf {
  template <class... Parameters>
  const void* operator()(void (*function)(Parameters...)) const {
    return reinterpret_cast<const void*>(function);
  }
};

template <class Visit, class Call>
auto kernel(const char* name, emu::Site site, Visit visit, Call call) {
  const void* address = nullptr;
  if constexpr (std::is_invocable_v<Visit, AddressOf>) address = visit(AddressOf());
  return [=](dim3 grid, dim3 block, std::size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
    return Configured<Call>({name, site, address}, {grid, block, shared_bytes, stream}, call);
  };
}

}  // namespace warpline::cuda
