#include "tools/output_paths.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "engine/file.h"
#include "kernels/error.h"

namespace warpline::tools {

void check_output_paths(std::initializer_list<FlagPath> outputs, std::initializer_list<FlagPath> inputs) {
  std::vector<FlagPath> seen;  // resolved
  for (const FlagPath& input : inputs) {
    std::error_code missing;  // is found when it is read
    const std::filesystem::path file = std::filesystem::canonical(input.path, missing);
    if (!missing) seen.push_back({input.flag, file.string()});
  }
  for (const FlagPath& output : outputs) {
    if (output.path.empty()) continue;
    const std::string file = check_writable(output.path);
    if (file.empty()) continue;  // a device takes several
    for (const FlagPath& other : seen) {
      if (other.path != file) continue;
      fail<ValueError>(output.flag, "{} is the file of {} as well; give each its own", output.path,
                       other.flag);
    }
    seen.push_back({output.flag, file});
  }
}

}  // namespace warpline::tools
