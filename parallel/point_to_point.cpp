#include "parallel/point_to_point.h"

#include <fmt/core.h>

namespace warpline::parallel {

std::string difference(const Message& mine, const Message& theirs) {
  std::string text = difference(mine.call, theirs.call);
  if (!text.empty()) return text;
  if (mine.collective != theirs.collective) {
    return fmt::format("collective {} against {}", mine.collective, theirs.collective);
  }
  if (mine.tensor.count() != theirs.tensor.count()) {
    return fmt::format("a part of {} elements against {}", mine.tensor.count(), theirs.tensor.count());
  }
  return {};
}

}  // namespace warpline::parallel
