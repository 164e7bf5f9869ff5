#include "tools/kernel_choice.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/ranges.h>

#include "kernels/error.h"
#include "tools/kernel_problems.h"

namespace warpline::tools {

KernelChoice parse_kernel(const std::string& name, DeviceKind target) {
  const std::size_t slash = name.find('/');
  KernelChoice choice{name.substr(0, slash), slash == std::string::npos ? "" : name.substr(slash + 1)};
  static_cast<void>(shape_legend(choice.op));
  if (slash == std::string::npos) return choice;
  std::vector<std::string_view> variants;  // once each, though dtypes have rows of their own
  for (const kernels::Row& row : kernels::table()) {
    if (row.op != choice.op || row.target != target) continue;
    if (std::ranges::find(variants, row.variant) == variants.end()) variants.push_back(row.variant);
  }
  if (std::ranges::find(variants, choice.variant) == variants.end()) {
    fail<ValueError>("kernel", "{} has no variant '{}' on {}; there are {}", choice.op, choice.variant,
                     to_string(target), fmt::join(variants, ", "));
  }
  return choice;
}

}  // namespace warpline::tools
