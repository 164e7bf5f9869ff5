#include "tools/output_paths.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "engine/file.h"
#include "kernels/error.h"

namespace warpline::tools {

void check_output_paths(std::initializer_list<FlagPath> outputs, std::initializer_list<FlagPath> inputs) {
  namespace fs = std::filesystem;
  const auto resolved = [](const std::string& path) {
    std::error_code error;
    fs::path absolute = fs::weakly_canonical(path, error);
    return error ? fs::path(path) : absolute;
  };
  std::vector<FlagPath> seen = inputs;
  for (const FlagPath& output : outputs) {
    if (output.path.empty()) continue;
    check_writable(output.path);
    const bool is_device = fs::exists(output.path) && !fs::is_regular_file(output.path);  // may take several
    for (const FlagPath& other : seen) {
      if (is_device || other.path.empty() || resolved(other.path) != resolved(output.path)) continue;
      fail<ValueError>(output.flag, "{} is the file of {} as well; give each its own", output.path,
                       other.flag);
    }
    seen.push_back(output);
  }
}

}  // namespace warpline::tools
