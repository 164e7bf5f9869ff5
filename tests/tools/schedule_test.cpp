// `warpline schedule` as a person meets it: pictures, numbers, refusals.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "tests/support/run_program.h"

using warpline::test::ProgramResult;

namespace {

ProgramResult schedule(const std::string& arguments) {
  return warpline::test::run_program(fmt::format("'{}' schedule {}", WARPLINE_PROGRAM, arguments));
}

}  // namespace

TEST_CASE("a schedule is drawn with its numbers", "[schedule]") {
  const ProgramResult result = schedule("--name gpipe --stages 3 --micro-batches 2");
  CHECK(result.status == 0);
  CHECK(result.errors.empty());
  CHECK(result.out ==
        "gpipe, 3 stages, 2 micro-batches\n\n"
        "rank 0 |F0 F1 ..................B1--- B0--- |\n"
        "rank 1 |...F0 F1 .........B1--- B0--- ......|\n"
        "rank 2 |......F0 F1 B1--- B0--- ............|\n"
        "time    0              5              10\n\n"
        "makespan    12\n"
        "idle share  50.0 %\n"
        "span idle   6 3 0\n"
        "peak live   2 2 2\n");
}

TEST_CASE("costs and latency reach the simulator", "[schedule]") {
  const auto says = [](const std::string& arguments, const std::string& line) {
    const ProgramResult result = schedule(arguments);
    INFO(arguments << "\n" << result.out << result.errors);
    CHECK(result.status == 0);
    CHECK(result.out.find(line) != std::string::npos);
  };
  says("--name gpipe --stages 4 --micro-batches 8", "makespan    33\nidle share  27.3 %");
  says("--name gpipe --stages 4 --micro-batches 8 --latency 0.3", "makespan    34.8\n");
  says("--name 1f1b --stages 4 --micro-batches 8", "peak live   4 3 2 1\n");
  says("--name naive --stages 4 --micro-batches 3", "idle share  75.0 %");
  says("--name inference --stages 4 --micro-batches 5 --costs 2,0,0", "makespan    16\n");
  // sum F + (m-1) max F + sum B + (m-1) max B
  says("--name gpipe --stages 2 --micro-batches 4 --costs '1,1,1;2.5,2,3'", "makespan    33\n");
  says("--name gpipe --stages 1 --micro-batches 1 --color", "\x1b[34mF0 ");
}

TEST_CASE("CSV and the list", "[schedule]") {
  const ProgramResult csv = schedule("--name gpipe --stages 2 --micro-batches 3 --csv");
  CHECK(csv.status == 0);
  CHECK(csv.out.starts_with("rank,position,action,start,end\n0,0,0F0,0,1\n"));
  CHECK(std::count(csv.out.begin(), csv.out.end(), '\n') == 1 + 2 * (3 + 3 + 6 + 1));
  const ProgramResult list = schedule("--list");
  CHECK(list.status == 0);
  for (const char* name : {"naive ", "gpipe ", "1f1b ", "inference "})
    CHECK(list.out.find(name) != std::string::npos);
}

TEST_CASE("help teaches", "[schedule]") {
  const ProgramResult help = schedule("--help");
  CHECK(help.status == 0);
  for (const char* word : {"--costs", "idle share", "span idle", "warpline schedule --name gpipe"}) {
    CHECK(help.out.find(word) != std::string::npos);
  }
}

TEST_CASE("bad use ends with status 2, one message and no output", "[schedule]") {
  const std::string shape = "--name gpipe --stages 2 --micro-batches 2 ";
  const std::vector<std::pair<std::string, std::string>> refusals = {
      {"", "--name is missing"},
      {"--name gpipe --stages 2", "--micro-batches is missing"},
      {"--name gpip --stages 2 --micro-batches 2", "no schedule is called 'gpip'; there are: gpipe,"},
      {"--name gpipe --stages 0 --micro-batches 2", "pipeline ranks must be at least 1, not 0"},
      {"--name gpipe --stages -2 --micro-batches 2", "pipeline ranks must be at least 1, not -2"},
      {"--name gpipe --stages 2 --micro-batches 0", "micro-batches must be at least 1, not 0"},
      {"--name gpipe --stages two --micro-batches 2", "--stages"},
      {"--name gpipe --stages 2.5 --micro-batches 2", "--stages"},
      {"--name gpipe --stages 99999999999 --micro-batches 2", "--stages"},
      {"--name gpipe --stages 1000000 --micro-batches 1000000", "a plan may hold"},
      {shape + "--chunks 2", "chunks must be 1, not 2"},
      {shape + "--chunks 0", "chunks must be at least 1, not 0"},
      {shape + "--costs 1,2", "'1,2' is not F,I,W"},
      {shape + "--costs 1,2,x", "--costs: 'x' is not a number of at least 0"},
      {shape + "--costs 1,2,", "--costs: '' is not a number"},
      {shape + "--costs 1,-2,1", "--costs: '-2' is not a number of at least 0"},
      {shape + "--costs nan,1,1", "'nan' is not a number"},
      {"--name inference --stages 2 --micro-batches 2 --costs 0,1,1", "no action of inference takes time"},
      {shape + "--costs 1e999,1,1", "'1e999' is not a number"},
      {shape + "--costs 1e200,1,1", "costs are from 0 to 1e+12"},
      {shape + "--costs 0,0,0", "stage 0 takes no time"},
      {shape + "--costs '1,1,1;1,1,1;1,1,1'", "--costs has 3 triples; give one for all stages or 2"},
      {shape + "--latency -1", "--latency: '-1' is not a number"},
      {shape + "--latency inf", "'inf' is not a number"},
      {shape + "--latency 1s", "'1s' is not a number"},
      {shape + "--list", "--list"},
      {shape + "--compare", "--compare"},
      {shape + "more", "more"},
  };
  int refused = 0;
  for (const auto& [arguments, why] : refusals) {
    const ProgramResult result = schedule(arguments);
    INFO(arguments << "\n" << result.out << result.errors);
    const bool good =
        result.status == 2 && result.out.empty() && result.errors.find(why) != std::string::npos;
    CHECK(good);
    refused += good ? 1 : 0;
  }
  fmt::print("bad uses refused: {} of {}\n", refused, refusals.size());
}
