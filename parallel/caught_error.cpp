#include "parallel/caught_error.h"

#include <array>

#include "kernels/error.h"
#include "parallel/communicator.h"

namespace warpline::parallel {
namespace {

struct Type {
  const char* name;
  bool (*is)(const std::exception& error);
  void (*raise)(const std::string& text);
};

template <class E>
Type type(const char* name) {
  return {name, [](const std::exception& error) { return dynamic_cast<const E*>(&error) != nullptr; },
          [](const std::string& text) { throw E(text); }};
}

// The most derived ones come first.
const std::array kTypes{
    type<ShapeError>("ShapeError"),   type<DTypeError>("DTypeError"),
    type<DeviceError>("DeviceError"), type<ValueError>("ValueError"),
    type<FileError>("FileError"),     type<AutogradError>("AutogradError"),
    type<BadInput>("BadInput"),       type<TimeoutError>("TimeoutError"),
    type<PeerError>("PeerError"),     type<MismatchError>("MismatchError"),
    type<Failure>("Failure"),         type<Error>("Error"),
};

}  // namespace

void CaughtError::rethrow(const std::string& prefix) const {
  for (const Type& known : kTypes) {
    if (known.name == type) known.raise(prefix + text);
  }
  throw Failure(prefix + text);
}

CaughtError describe(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& caught) {
    for (const Type& known : kTypes) {
      if (known.is(caught)) return {caught.what(), known.name};
    }
    return {caught.what(), "Failure"};
  } catch (...) {
    return {"an exception that is no std::exception", "Failure"};
  }
}

}  // namespace warpline::parallel
