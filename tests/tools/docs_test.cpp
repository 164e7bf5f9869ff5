// What the pages of docs/ show of the program is what the program prints.
#include <filesystem>
#include <fstream>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/core.h>
#include <unistd.h>

#include "tests/support/run_program.h"

using warpline::test::ProgramResult;

namespace {

ProgramResult check(const std::string& more) {
  return warpline::test::run_program(fmt::format("'{}/tools/generate_docs' --check --program '{}' {}",
                                                 WARPLINE_SOURCE_ROOT, WARPLINE_PROGRAM, more));
}

}  // namespace

TEST_CASE("generated blocks are up to date", "[docs]") {
  const ProgramResult result = check("");
  INFO(result.errors);
  CHECK(result.status == 0);
  CHECK(result.out.find("0 generated blocks") != 0);
  fmt::print("{}", result.out);
}

TEST_CASE("a stale or broken page is noticed", "[docs]") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / fmt::format("warpline-docs-{}", ::getpid());
  fs::create_directory(folder);
  const auto with = [&](const std::string& text) {
    std::ofstream(folder / "page.md") << text;
    return check("--folder '" + folder.string() + "'");
  };
  CHECK(with("<!-- generated: warpline schedule --list -->\nold\n<!-- end -->\n")
            .errors.find("out of date: page.md") != std::string::npos);
  CHECK(with("<!-- generated: warpline schedule --list -->\nnever closed\n").errors.find("not closed") !=
        std::string::npos);
  CHECK(with("<!-- generated: warpline schedule --name x -->\n<!-- end -->\n").errors.find("exit status 2") !=
        std::string::npos);
  CHECK(with("plain text\n").status == 0);
  fs::remove_all(folder);
}
