// Launches a kernel on the emulator: `launch<kernel>(grid, block, shared_bytes, stream, arguments...)`.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>

#include "kernels/emu/grid.h"
#include "kernels/stream.h"

namespace warpline::emu {

namespace detail {

#ifdef WARPLINE_EMU_CHECKED
inline constexpr bool kChecked = true;
#else
inline constexpr bool kChecked = false;
#endif

// "gemm_naive<float>", cut out of what the compiler says about a template with that argument.
template <auto Kernel>
std::string_view kernel_name() {
  return cut_kernel_name(__PRETTY_FUNCTION__);
}

}  // namespace detail

template <auto Kernel, class... Arguments>
void launch(dim3 grid, dim3 block, std::size_t shared_bytes, const Stream& stream, Arguments... arguments) {
  const auto body = [arguments...] { Kernel(arguments...); };
  using Body = decltype(body);
  enqueue({detail::kernel_name<Kernel>(), grid, block, shared_bytes, detail::kChecked}, stream,
          {[](const void* parameters) { (*static_cast<Body*>(parameters))(); },
           std::make_shared<std::remove_const_t<Body>>(body), sizeof(body)});
}

}  // namespace warpline::emu
