#include "parallel/caught_error.h"

#include <cstdlib>

#include "kernels/error.h"
#include "parallel/communicator.h"

namespace warpline::parallel {
namespace {

using Raise = void (*)(const std::string& text);

template <class E>
void raise(const std::string& text) {
  throw E(text);
}

// The first type of the list that the error is: the most derived ones come first.
template <class... E>
Raise raise_as(const std::exception& error) {
  Raise found = nullptr;
  (void)((dynamic_cast<const E*>(&error) != nullptr && (found = &raise<E>)) || ...);
  return found != nullptr ? found : &raise<Failure>;
}

}  // namespace

void CaughtError::rethrow(const std::string& prefix) const {
  raise(prefix + text);
  std::abort();  // raise does not return
}

CaughtError describe(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& caught) {
    return {caught.what(),
            raise_as<ShapeError, DTypeError, DeviceError, ValueError, FileError, AutogradError, BadInput,
                     TimeoutError, PeerError, MismatchError, Failure, Error>(caught)};
  } catch (...) {
    return {"an exception that is no std::exception", &raise<Failure>};
  }
}

}  // namespace warpline::parallel
