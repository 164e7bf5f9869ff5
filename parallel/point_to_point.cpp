#include "parallel/point_to_point.h"

#include <fmt/core.h>

namespace warpline::parallel {

std::string difference(const Envelope& mine, const Envelope& theirs) {
  std::string text = difference(mine.call, theirs.call);
  if (!text.empty()) return text;
  if (mine.collective != theirs.collective) {
    return fmt::format("collective {} against {}", mine.collective, theirs.collective);
  }
  if (mine.part != theirs.part) {
    return fmt::format("a part of {} elements against {}", mine.part, theirs.part);
  }
  return {};
}

}  // namespace warpline::parallel
