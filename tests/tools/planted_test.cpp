// Sanitizers see what they are built in for: a fault that is planted in each room is reported, by its kind
// and with a file of that room, and the same calls done right are not. Sanitizer builds only.
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "tests/support/run_program.h"

namespace fs = std::filesystem;
using namespace warpline::test;
using Catch::Matchers::Contains;

namespace {

struct Plant {
  std::string room, fault;
  std::string kind;  // as the sanitizer names it
};

const bool kThreads = std::string_view(WARPLINE_COMPILE).find("-fsanitize=thread") != std::string_view::npos;

std::vector<Plant> plants() {
  if (kThreads) {
    return {{"kernels", "race", "data race"}, {"engine", "race", "data race"},
            {"engine", "reuse", "data race"}, {"parallel", "race", "data race"},
            {"models", "race", "data race"},  {"tools", "race", "data race"}};
  }
  return {{"kernels", "overrun", "heap-buffer-overflow"}, {"kernels", "scratch", "use-after-poison"},
          {"engine", "overrun", "use-after-poison"},      {"engine", "freed", "use-after-poison"},
          {"parallel", "overrun", "use-after-poison"},    {"models", "overrun", "heap-buffer-overflow"},
          {"tools", "overrun", "use-after-poison"}};
}

// Files, from the repository's root, on the stacks of the access or accesses that the first report is about;
// not on those that say where memory or threads come from.
std::vector<std::string> files_of(const std::string& report) {
  std::vector<std::string> files;
  bool begun = false;
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    begun |= line.find("Sanitizer: ") != std::string::npos;
    if (line.find(" is located ") != std::string::npos || line.find("Location is") != std::string::npos ||
        line.find("created by") != std::string::npos || line.starts_with("SUMMARY")) {
      break;
    }
    std::istringstream words(line);
    for (std::string word; begun && words >> word;) {
      for (const std::string_view end : {".cpp:", ".h:"}) {  // "../engine/tensor.cpp:125"
        const std::size_t at = word.find(end);
        if (at == std::string::npos) continue;
        const fs::path file = fs::path(WARPLINE_BUILD_ROOT) / word.substr(0, at + end.size() - 1);
        files.push_back(file.lexically_normal().lexically_relative(WARPLINE_SOURCE_ROOT));
      }
    }
  }
  return files;
}

bool names_room(const std::vector<std::string>& files, const std::string& room) {
  return std::any_of(files.begin(), files.end(),
                     [&](const std::string& file) { return file.starts_with(room + "/"); });
}

}  // namespace

TEST_CASE("a fault planted in each room is reported, and nothing else is", "[planted]") {
  std::size_t ran = 0;
  for (const Plant& plant : plants()) {
    const std::string command =
        fmt::format("'{}/tests/planted' {} {}", WARPLINE_BUILD_ROOT, plant.room, plant.fault);
    CAPTURE(command);

    const ProgramResult clean = run_program(command + " clean");
    CHECK(clean.status == 0);
    CHECK_THAT(clean.errors, !Contains("Sanitizer"));

    const ProgramResult faulty = run_program(command);
    CHECK(faulty.status != 0);
    INFO(faulty.errors);
    CHECK_THAT(faulty.errors, Contains("Sanitizer: " + plant.kind));
    CHECK(names_room(files_of(faulty.errors), plant.room));
    ++ran;
  }
  fmt::print("{} of {} planted faults ran\n", ran, plants().size());
}
