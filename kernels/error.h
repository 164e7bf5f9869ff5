// Typed errors. A message is "[tag] rule: actual values; next step". Programs map BadInput to exit status 2
// and every other Error to 1; only `main` exits.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace warpline {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The caller's fault: nothing was written, nothing was changed.
struct BadInput : Error {
  using Error::Error;
};
struct ShapeError : BadInput {
  using BadInput::BadInput;
};
struct DTypeError : BadInput {
  using BadInput::BadInput;
};
struct DeviceError : BadInput {
  using BadInput::BadInput;
};
struct ValueError : BadInput {
  using BadInput::BadInput;
};
struct FileError : BadInput {
  using BadInput::BadInput;
};
struct AutogradError : BadInput {
  using BadInput::BadInput;
};

// A good call that could not be carried out.
struct Failure : Error {
  using Error::Error;
};

// fail<ShapeError>("conv2d", "input has {} channels, weight expects {}; ...", a, b)
template <class E, class... A>
[[noreturn]] void fail(std::string_view tag, fmt::format_string<A...> text, A&&... values) {
  throw E(fmt::format("[{}] {}", tag, fmt::format(text, std::forward<A>(values)...)));
}

}  // namespace warpline
