// The libraries that the program uses: what it was compiled against, and what runs.
#pragma once

#include <string>
#include <vector>

namespace warpline::tools {

struct LibraryVersion {
  std::string name, compiled, running, purpose;
};

std::vector<LibraryVersion> library_versions();
std::string compiler_version();  // "gcc 12.2.0"

}  // namespace warpline::tools
