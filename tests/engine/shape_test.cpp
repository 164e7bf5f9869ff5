#include "engine/shape.h"

#include <cstdint>

#include <catch2/catch.hpp>

#include "kernels/error.h"

using namespace warpline;
using Catch::Matchers::Contains;

TEST_CASE("elements of a shape", "[shape]") {
  CHECK(element_count({}) == 1);
  CHECK(element_count({2, 3, 5}) == 30);
  CHECK(element_count({4, 0, 7}) == 0);
  CHECK(element_count({INT64_MAX}) == INT64_MAX);
  CHECK(element_count({INT64_MAX, 4, 0}) == 0);
  CHECK(to_string(Shape{64, 1, 28}) == "[64, 1, 28]");
  CHECK(to_string(Shape{}) == "[]");
}

TEST_CASE("sizes that are negative or whose product leaves int64 are refused", "[shape]") {
  CHECK_THROWS_WITH(element_count({2, -3}), Contains("[2, -3]"));
  CHECK_THROWS_AS(element_count({0, -1}), ShapeError);
  CHECK_THROWS_AS(element_count({INT64_MAX, 2}), ShapeError);
  CHECK_THROWS_AS(element_count({std::int64_t{1} << 32, std::int64_t{1} << 32}), ShapeError);
}

TEST_CASE("shapes broadcast by NumPy's rule", "[shape]") {
  CHECK(broadcast_shapes({4, 1, 3}, {5, 1}) == Shape{4, 5, 3});
  CHECK(broadcast_shapes({}, {2, 7}) == Shape{2, 7});
  CHECK(broadcast_shapes({1}, {0}) == Shape{0});
  CHECK(broadcast_shapes({3, 1}, {1, 0}) == Shape{3, 0});
  CHECK_THROWS_WITH(broadcast_shapes({4, 2, 3}, {5, 3}),
                    Contains("[4, 2, 3] and [5, 3]") && Contains("axis 2"));
  CHECK_THROWS_AS(broadcast_shapes({2}, {0}), ShapeError);
}
