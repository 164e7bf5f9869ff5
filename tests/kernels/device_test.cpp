#include "kernels/device.h"

#include <catch2/catch.hpp>

#include "kernels/error.h"

using namespace warpline;

TEST_CASE("a device is named by kind and index", "[device]") {
  CHECK(parse_device("cpu") == Device{DeviceKind::Cpu, 0});
  CHECK(parse_device("ref:3") == Device{DeviceKind::Ref, 3});
  CHECK(to_string(parse_device("cpu:12")) == "cpu:12");
}

TEST_CASE("a device that does not parse is refused", "[device]") {
  for (const char* text :
       {"", "gpu", "cpu:", "cpu:-1", "cpu:1x", "cpu:99999999999", ":1", "cpu:1:2", "CPU"}) {
    CHECK_THROWS_AS(parse_device(text), DeviceError);
  }
}
