// The grid of ranks, and the table of back ends.
#include "parallel/mesh.h"

#include <limits>
#include <set>

#include <catch2/catch.hpp>

#include "kernels/error.h"
#include "parallel/backends.h"
#include "tests/support/errors.h"

using namespace warpline;
using namespace warpline::parallel;
using Catch::Matchers::Contains;
using warpline::test::error_of;

TEST_CASE("a rank is replica * stages + stage", "[mesh]") {
  const Mesh mesh(3, 2);
  CHECK(mesh.size() == 6);
  CHECK(mesh.rank(2, 1) == 5);
  CHECK(mesh.replica(5) == 2);
  CHECK(mesh.stage(5) == 1);
  CHECK(mesh.pipeline(1) == std::vector{2, 3});
  CHECK(mesh.data_group(1) == std::vector{1, 3, 5});
  CHECK(mesh.pipeline_slice(3) == Slice{1, 1});
  CHECK(mesh.data_slice(4) == Slice{0, 2});
}

TEST_CASE("rows and columns of every grid cover each rank once", "[mesh]") {
  for (int replicas = 1; replicas <= 5; ++replicas) {
    for (int stages = 1; stages <= 5; ++stages) {
      const Mesh mesh(replicas, stages);
      std::multiset<int> rows, columns, all;
      for (int r = 0; r < mesh.size(); ++r) {
        all.insert(r);
        CHECK(mesh.rank(mesh.replica(r), mesh.stage(r)) == r);
        CHECK(mesh.pipeline(mesh.replica(r))[static_cast<std::size_t>(mesh.pipeline_slice(r).key)] == r);
        CHECK(mesh.data_group(mesh.stage(r))[static_cast<std::size_t>(mesh.data_slice(r).key)] == r);
      }
      for (int i = 0; i < replicas; ++i) {
        for (const int r : mesh.pipeline(i)) rows.insert(r);
      }
      for (int j = 0; j < stages; ++j) {
        for (const int r : mesh.data_group(j)) columns.insert(r);
      }
      CHECK(rows == all);
      CHECK(columns == all);
    }
  }
}

TEST_CASE("a mesh refuses what does not exist", "[mesh]") {
  CHECK_THAT(error_of<ValueError>([] { Mesh(0, 2); }), Contains("0 replicas x 2 stage ranks"));
  CHECK_THAT(error_of<ValueError>([] { Mesh(2, -1); }), Contains("-1 stage ranks"));
  CHECK_THAT(error_of<ValueError>([] { Mesh(std::numeric_limits<int>::max(), 2); }), Contains("product"));
  const Mesh mesh(3, 2);
  CHECK_THAT(error_of<ValueError>([&] { (void)mesh.rank(3, 0); }), Contains("replica 3 is not one of 0..2"));
  CHECK_THAT(error_of<ValueError>([&] { (void)mesh.rank(0, 2); }), Contains("stage 2 is not one of 0..1"));
  CHECK_THAT(error_of<ValueError>([&] { (void)mesh.replica(6); }), Contains("rank 6 is not one of 0..5"));
  CHECK_THAT(error_of<ValueError>([&] { (void)mesh.stage(-1); }), Contains("rank -1"));
}

TEST_CASE("an unknown back end is refused with those that exist", "[communicator]") {
  CHECK(find_backend("local").name == "local");
  CHECK_THAT(error_of<ValueError>([] { find_backend("carrier-pigeon"); }),
             Contains("'carrier-pigeon'") && Contains("local (threads of one process)"));
}
