// Leaves a test case that cannot run here, with the reason, which the closing summary repeats.
#pragma once

#include <string>

#include <catch2/catch.hpp>

namespace warpline::test {
void skip(const std::string& reason);  // main thread, inside a test case
}  // namespace warpline::test

#define SKIP_TEST(reason)           \
  do {                              \
    ::warpline::test::skip(reason); \
    SUCCEED(reason);                \
    return;                         \
  } while (false)
