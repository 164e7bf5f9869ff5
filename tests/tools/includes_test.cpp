// Includes point one way: kernels <- engine <- parallel <- models <- tools. Tests may include all; nothing
// includes tests, and no contract header pulls in CUDA or NCCL.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kRooms = {"kernels", "engine", "parallel", "models", "tools"};

// Position in the chain; -1 for a path that is in no room.
int room_of(const std::string& path) {
  for (std::size_t i = 0; i < kRooms.size(); ++i) {
    if (path.starts_with(kRooms[i] + "/")) return static_cast<int>(i);
  }
  return -1;
}

// What is wrong with an include of `included` in `file` (both relative to the repository); empty: nothing.
std::string complaint(const std::string& file, const std::string& included, bool quoted) {
  if (!quoted) {
    const bool native = included.starts_with("cuda") || included.starts_with("nccl");
    const bool contract = file.ends_with(".h") && !file.starts_with("kernels/cuda/");
    return native && contract ? "a native header in a contract header" : "";
  }
  const auto from = static_cast<std::size_t>(room_of(file));
  const int to = room_of(included);
  if (to < 0) return "not rooted at the repository";
  if (static_cast<std::size_t>(to) > from) {
    return fmt::format("{} must not know {}", kRooms[from], kRooms[static_cast<std::size_t>(to)]);
  }
  return "";
}

}  // namespace

TEST_CASE("includes point from the right to the left only", "[includes]") {
  const fs::path root = WARPLINE_SOURCE_ROOT;
  const std::regex include("^\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"]");
  std::map<std::string, int> seen;
  std::vector<std::string> complaints;
  for (const std::string& room : kRooms) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / room)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp" && extension != ".cu" && extension != ".cuh") continue;
      const std::string file = fs::relative(entry.path(), root);
      std::ifstream stream(entry.path());
      for (std::string line; std::getline(stream, line);) {
        std::smatch match;
        if (!std::regex_search(line, match, include)) continue;
        ++seen[room];
        const std::string problem = complaint(file, match[2], match[1] == "\"");
        if (!problem.empty()) complaints.push_back(fmt::format("{}: {}: {}", file, match[2].str(), problem));
      }
    }
  }
  CHECK(complaints == std::vector<std::string>{});
  for (const std::string& room : kRooms) CHECK(seen[room] > 0);
}

TEST_CASE("an include the wrong way is noticed", "[includes]") {
  CHECK(complaint("engine/tensor.h", "kernels/device.h", true).empty());
  CHECK(complaint("engine/tensor.h", "engine/shape.h", true).empty());
  CHECK(complaint("tools/a.cpp", "models/net.h", true).empty());
  CHECK(!complaint("kernels/device.h", "engine/tensor.h", true).empty());
  CHECK(!complaint("parallel/plan.h", "models/net.h", true).empty());
  CHECK(!complaint("models/net.h", "tools/commands.h", true).empty());
  CHECK(!complaint("engine/tensor.h", "tests/support/skip.h", true).empty());
  CHECK(!complaint("engine/tensor.h", "../kernels/device.h", true).empty());
  CHECK(!complaint("engine/tensor.h", "cuda_runtime.h", false).empty());
  CHECK(!complaint("parallel/communicator.h", "nccl.h", false).empty());
}
