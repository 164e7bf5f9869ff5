// Drawings, letter by letter where small, by their width where large.
#include "parallel/draw.h"

#include <algorithm>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "kernels/error.h"
#include "parallel/lowering.h"
#include "parallel/schedule.h"
#include "tests/support/plans.h"

using namespace warpline;
using namespace warpline::parallel;

namespace {

std::string picture(const std::string& name, int n, int m, const Costs& costs,
                    const DrawOptions& options = {}) {
  const Plan plan =
      lower(compute_plan(find_schedule(name), {.ranks = n, .micro_batches = m}), {.costs = costs});
  return draw(plan, simulate(plan, costs), options);
}

std::size_t widest(const std::string& text) {
  std::istringstream lines(text);
  std::size_t width = 0;
  for (std::string line; std::getline(lines, line);) width = std::max(width, line.size());
  return width;
}

}  // namespace

TEST_CASE("GPipe's clock", "[draw]") {
  CHECK(picture("gpipe", 3, 2, Costs::uniform(3)) ==
        "rank 0 |F0 F1 ..................B1--- B0--- |\n"
        "rank 1 |...F0 F1 .........B1--- B0--- ......|\n"
        "rank 2 |......F0 F1 B1--- B0--- ............|\n"
        "time    0              5              10\n");
}

TEST_CASE("uneven stages are drawn to scale", "[draw]") {
  Costs costs = Costs::uniform(2, 1, 1, 0);
  costs.forward[1] = 2.5;
  CHECK(picture("naive", 2, 1, costs) ==
        "rank 0 |F0 ...........B0 |\n"
        "rank 1 |...F0----- B0 ...|\n"
        "time    0              5\n");
}

TEST_CASE("blanks between actions give way before the picture wraps", "[draw]") {
  CHECK(picture("gpipe", 3, 2, Costs::uniform(3), {.columns = 40}) ==
        "rank 0 |F0F1............B1- B0- |\n"
        "rank 1 |..F0F1......B1- B0- ....|\n"
        "rank 2 |....F0F1B1- B0- ........|\n"
        "time    0         5         10\n");
}

TEST_CASE("long pictures wrap, longer ones shrink, none is wider than told", "[draw]") {
  const std::string wrapped = picture("1f1b", 4, 16, Costs::uniform(4));
  CHECK(std::count(wrapped.begin(), wrapped.end(), '\n') > 6);
  CHECK(wrapped.find("F15") != std::string::npos);
  const std::string shrunk = picture("gpipe", 2, 500, Costs::uniform(2), {.columns = 60});
  CHECK(shrunk ==
        "rank 0 |FFFFFFFFFFFFFFFFFBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB|\n"
        "rank 1 |FFFFFFFFFFFFFFFFFBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB|\n"
        "time    0                500              1000\n");
  int fitting = 0, drawn = 0;
  test::sweep_plans([&](const Schedule& schedule, const PipelineShape& shape, const Plan&) {
    for (const int columns : {60, 100}) {
      Costs costs = Costs::uniform(shape.ranks, 1, 1, 1, drawn % 3 * 0.3);
      costs.forward[0] = drawn % 5 == 0 ? 0.01 : 1;
      const std::string text =
          picture(std::string(schedule.name), shape.ranks, shape.micro_batches, costs, {.columns = columns});
      ++drawn;
      fitting += widest(text) <= static_cast<std::size_t>(columns) ? 1 : 0;
    }
  });
  CHECK(fitting == drawn);
  fmt::print("drawings within their columns: {} of {}\n", fitting, drawn);
}

TEST_CASE("colour only when told, and the same letters", "[draw]") {
  const std::string plain = picture("gpipe", 2, 2, Costs::uniform(2));
  std::string coloured = picture("gpipe", 2, 2, Costs::uniform(2), {.colour = true});
  CHECK(plain.find('\x1b') == std::string::npos);
  CHECK(coloured.find("\x1b[34mF0 F1 \x1b[0m") != std::string::npos);
  for (std::size_t at = coloured.find('\x1b'); at != std::string::npos; at = coloured.find('\x1b')) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  CHECK(coloured == plain);
}

TEST_CASE("too narrow to draw in", "[draw]") {
  CHECK_THROWS_AS(picture("gpipe", 2, 2, Costs::uniform(2), {.columns = 10}), ValueError);
}

TEST_CASE("the timeline as CSV", "[draw]") {
  const Costs costs = Costs::uniform(2, 1, 1, 1, 0.5);
  const Plan plan =
      lower(compute_plan(find_schedule("gpipe"), {.ranks = 2, .micro_batches = 1}), {.costs = costs});
  CHECK(timeline_csv(plan, simulate(plan, costs)) ==
        "rank,position,action,start,end\n"
        "0,0,0F0,0,1\n"
        "0,1,0>1a0#0,1,1.5\n"
        "0,2,0<1g0#1,4.5,5\n"
        "0,3,0B0,5,7\n"
        "0,4,S,7,7\n"
        "1,0,1<0a0#0,1,1.5\n"
        "1,1,1F0,1.5,2.5\n"
        "1,2,1B0,2.5,4.5\n"
        "1,3,1>0g0#1,4.5,5\n"
        "1,4,S,4.5,4.5\n");
}
