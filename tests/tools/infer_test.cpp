// `warpline infer`: the same outputs however the model is split, several batches in flight, and one image
// shown.
#include <fstream>
#include <set>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

using warpline::test::ProgramResult;
using warpline::test::TemporaryFolder;

namespace {

ProgramResult infer(const std::string& arguments) {
  return warpline::test::run_program(fmt::format("'{}' infer {}", WARPLINE_PROGRAM, arguments));
}

}  // namespace

TEST_CASE("a stream of batches has the same outputs however it is split", "[infer]") {
  std::set<std::string> hashes;
  for (const char* split : {"", "--strategy layer --stages 2", "--strategy pipeline --stages 2",
                            "--strategy pipeline --stages 4", "--strategy data"}) {
    const TemporaryFolder folder;
    const ProgramResult result =
        infer(fmt::format("--random --batches 20 --batch-size 8 {} --json '{}'", split, folder / "run.json"));
    INFO(split << "\n" << result.errors);
    REQUIRE(result.status == 0);
    const nlohmann::json run = nlohmann::json::parse(std::ifstream(folder / "run.json"));
    CHECK(run["batches"] == 20);
    hashes.insert(run["output_sha256"].get<std::string>());
  }
  CHECK(hashes.size() == 1);
}

TEST_CASE("one image is drawn with its probabilities", "[infer]") {
  const ProgramResult result = infer("--index 3 --data builtin");
  CHECK(result.status == 0);
  CHECK(result.out.find("test image 3 (builtin)") != std::string::npos);
  CHECK(result.out.find("\n9 ") != std::string::npos);
}

TEST_CASE("inference refuses what it cannot do", "[infer]") {
  for (const char* arguments : {"", "--random --index 1", "--random --batches 0", "--index -1 --data builtin",
                                "--index 10000 --data builtin", "--random --micro-batches 2",
                                "--index 1 --json x", "--random --checkpoint /nonexistent"}) {
    INFO(arguments);
    CHECK(infer(arguments).status == 2);
  }
}
