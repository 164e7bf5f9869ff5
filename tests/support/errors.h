// What a bad call throws: the exact type, and the message.
#pragma once

#include <string>
#include <typeinfo>

#include <fmt/core.h>

namespace warpline::test {

// The message of the E that `call` throws, or what it did instead.
template <class E, class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const E& error) {
    if (typeid(error) == typeid(E)) return error.what();
    return fmt::format("<a type derived from the expected one: {}>", error.what());
  } catch (const std::exception& error) {
    return fmt::format("<another type: {}>", error.what());
  }
  return "<no error>";
}

}  // namespace warpline::test
