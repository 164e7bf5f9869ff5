// Runs the program and reads the results that it writes.
#pragma once

#include <fstream>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace warpline::test {

inline nlohmann::json read_json(const std::string& path) {
  return nlohmann::json::parse(std::ifstream(path));
}

// What `warpline ARGUMENTS --json` wrote. It must end with status 0.
inline nlohmann::json run_json(const std::string& arguments) {
  const TemporaryFolder folder;
  const std::string file = folder / "run.json";
  const ProgramResult result =
      run_program(fmt::format("'{}' {} --json '{}'", WARPLINE_PROGRAM, arguments, file));
  INFO(arguments << "\n" << result.errors);
  REQUIRE(result.status == 0);
  return read_json(file);
}

}  // namespace warpline::test
