#include "kernels/emu/profile/table.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include <fmt/core.h>

namespace warpline::emu::profile {

namespace {

struct Way {
  Space space;
  Direction direction;
  const char* name;
};
constexpr Way kWays[] = {
    {Space::Global, Direction::Load, "global loads"},   {Space::Global, Direction::Store, "global stores"},
    {Space::Global, Direction::Atomic, "atomics"},      {Space::Shared, Direction::Load, "shared loads"},
    {Space::Shared, Direction::Store, "shared stores"}, {Space::Shared, Direction::Atomic, "shared atomics"},
};

using Named = std::pair<std::string, const Counts*>;

// Only the kinds of requests that somebody made have columns.
std::string table(const std::string& title, const std::vector<Named>& rows) {
  std::size_t width = title.size();
  Counts sum;
  for (const auto& [name, counts] : rows) {
    width = std::max(width, name.size());
    sum += *counts;
  }
  std::string kinds(width, ' '), header = fmt::format("{:<{}}", title, width);
  for (const Way& way : kWays) {
    if (sum.of(way.space, way.direction).requests == 0) continue;
    kinds += fmt::format("{:>23}", way.name);
    header += fmt::format("{:>12}{:>11}", "requests", way.space == Space::Global ? "sectors" : "wavefronts");
  }
  std::string text = fmt::format("{}\n{}{:>10}{:>11}\n", kinds, header, "barriers", "divergent");
  for (const auto& [name, counts] : rows) {
    text += fmt::format("{:<{}}", name, width);
    for (const Way& way : kWays) {
      if (sum.of(way.space, way.direction).requests == 0) continue;
      const Traffic& traffic = counts->of(way.space, way.direction);
      text += traffic.requests == 0
                  ? fmt::format("{:>12}{:>11}", "-", "-")
                  : fmt::format("{:>12}{:>11.1f}", traffic.requests, traffic.parts_per_request());
    }
    text += fmt::format("{:>10}{:>11}\n", counts->barriers, counts->divergent);
  }
  return text;
}

// "sum.cu:9 > row.h:3" before "sum.cu:10".
std::pair<std::string, int> place_order(const std::string& place) {
  const std::size_t colon = place.find(':');
  if (colon == std::string::npos) return {place, 0};
  return {place.substr(0, colon), std::atoi(place.c_str() + colon + 1)};
}

}  // namespace

std::string kernel_table(const std::vector<KernelProfile>& profiles) {
  std::vector<Named> rows;
  for (const KernelProfile& profile : profiles) {
    const std::string times = profile.launches == 1 ? "" : fmt::format(", {} launches", profile.launches);
    rows.emplace_back(profile.kernel + times, &profile.total);
  }
  return table("kernel", rows);
}

std::string line_table(const KernelProfile& profile) {
  std::vector<Named> rows;
  for (const auto& [line, counts] : profile.lines) rows.emplace_back(line, &counts);
  std::stable_sort(rows.begin(), rows.end(), [](const Named& a, const Named& b) {
    return place_order(a.first) < place_order(b.first);
  });
  return table(profile.kernel, rows);
}

}  // namespace warpline::emu::profile
