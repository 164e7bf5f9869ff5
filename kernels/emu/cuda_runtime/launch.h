// What tools/emu-nvcc makes of `kernel<<<grid, block, shared_bytes, stream>>>(arguments...)`:
//
//     ::warpline::cuda::kernel("kernel", place, [=](const auto&... a) { kernel(a...); })(grid, block,
//     ...)(arguments...)
//
// The call stays the user's text, so templates, overloads and conversions of arguments are the language's.
#pragma once

#include <cstddef>

#include "kernels/emu/cuda_runtime/driver_types.h"
#include "kernels/emu/cuda_runtime/vector_types.h"
#include "kernels/emu/site.h"

namespace warpline::cuda {

struct LaunchSite {
  const char* kernel;  // as the program spells it
  emu::Site site;
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

// Takes the body over. What is wrong with the launch is the next cudaGetLastError().
void launch(const LaunchSite& site, const LaunchShape& shape, const Body& body);

template <class Call>
class Configured {
 public:
  Configured(const LaunchSite& site, const LaunchShape& shape, const Call& call)
      : site_(site), shape_(shape), call_(call) {}

  template <class... Arguments>
  void operator()(Arguments... arguments) const {
    auto body = [call = call_, arguments...] { call(arguments...); };
    using Object = decltype(body);
    launch(site_, shape_,
           {new Object(body), sizeof(Object),
            [](const void* object) { (*static_cast<const Object*>(object))(); },
            [](void* object) { delete static_cast<Object*>(object); }});
  }

 private:
  LaunchSite site_;
  LaunchShape shape_;
  Call call_;
};

template <class Call>
auto kernel(const char* name, emu::Site site, Call call) {
  return [=](dim3 grid, dim3 block, std::size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
    return Configured<Call>({name, site}, {grid, block, shared_bytes, stream}, call);
  };
}

}  // namespace warpline::cuda
