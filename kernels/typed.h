// Turns a kernel on typed pointers into the untyped signature of the table:
// row<ReluForward>("plain", Ref, Float32, typed<&relu_forward<float>>).
#pragma once

#include <type_traits>

namespace warpline::kernels {

namespace detail {

// Table signatures keep int64_t and TargetError pointers typed; only the op's own scalars are erased.
// `Wanted` is the parameter type that the table asks for.
template <class Wanted, class Actual>
Actual convert(Wanted value) {
  if constexpr (std::is_pointer_v<Wanted>) {
    return static_cast<Actual>(value);
  } else {
    return value;
  }
}

template <class... Wanted>
using Pointer = void (*)(Wanted...);

template <auto F, class Function = decltype(F)>
struct Typed;

template <auto F, class... Actual>
struct Typed<F, void (*)(Actual...)> {
  // Converts to whatever function pointer type the row wants.
  template <class... Wanted>
  static void call(Wanted... values) {
    F(convert<Wanted, Actual>(values)...);
  }
  template <class... Wanted>
  operator Pointer<Wanted...>() const {  // NOLINT(google-explicit-constructor): that is its purpose
    return &call<Wanted...>;
  }
};

}  // namespace detail

template <auto F>
inline constexpr detail::Typed<F> typed{};

}  // namespace warpline::kernels
