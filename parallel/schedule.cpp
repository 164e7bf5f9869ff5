#include "parallel/schedule.h"

#include <algorithm>
#include <numeric>

#include "kernels/error.h"
#include "parallel/schedules/rows.h"

namespace warpline::parallel {
namespace {

// A lowered plan takes about 200 bytes for each pair.
constexpr long long kMostPairs = 1 << 20;

// Levenshtein distance: to suggest the name that was meant.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string one_chunk_only(const PipelineShape& shape) {
  if (shape.chunks == 1) return "";
  return fmt::format("it places one stage on each rank, so chunks must be 1, not {}", shape.chunks);
}

const std::vector<Schedule>& schedules() {
  static const std::vector<Schedule> rows = {naive_row(), gpipe_row(), one_f_one_b_row(), inference_row()};
  return rows;
}

const Schedule& find_schedule(std::string_view name) {
  const std::vector<Schedule>& rows = schedules();
  for (const Schedule& row : rows) {
    if (row.name == name) return row;
  }
  const auto nearest = std::min_element(rows.begin(), rows.end(), [&](const Schedule& a, const Schedule& b) {
    return edit_distance(a.name, name) < edit_distance(b.name, name);
  });
  std::string names(nearest->name);
  for (const Schedule& row : rows) {
    if (&row != &*nearest) names += fmt::format(", {}", row.name);
  }
  fail<ValueError>("schedule", "no schedule is called '{}'; there are: {}", name, names);
}

std::vector<int> stage_to_rank(Placement placement, const PipelineShape& shape) {
  std::vector<int> ranks;
  for (int j = 0; j < shape.stages(); ++j) {
    const int place = j % shape.ranks;
    const bool back = placement == Placement::V && (j / shape.ranks) % 2 == 1;
    ranks.push_back(back ? shape.ranks - 1 - place : place);
  }
  return ranks;
}

void check_shape(const PipelineShape& shape) {
  const auto positive = [](const char* what, int value) {
    if (value < 1) fail<ValueError>("schedule", "{} must be at least 1, not {}", what, value);
  };
  positive("pipeline ranks", shape.ranks);
  positive("micro-batches", shape.micro_batches);
  positive("chunks", shape.chunks);
  const long long stages = static_cast<long long>(shape.ranks) * shape.chunks;
  if (stages > kMostPairs || stages * shape.micro_batches > kMostPairs) {
    fail<ValueError>("schedule", "{} stages x {} micro-batches is more than the {} that a plan may hold",
                     stages, shape.micro_batches, kMostPairs);
  }
}

Plan compute_plan(const Schedule& schedule, const PipelineShape& shape) {
  check_shape(shape);
  const std::string reason = schedule.refusal(shape);
  if (!reason.empty()) fail<ValueError>("schedule", "{} cannot do this: {}", schedule.name, reason);
  Plan plan;
  plan.ranks = shape.ranks;
  plan.chunks = shape.chunks;
  plan.stages = shape.stages();
  plan.micro_batches = shape.micro_batches;
  plan.stage_to_rank = stage_to_rank(schedule.placement, shape);
  plan.buckets.assign(plan.stage_to_rank.size(), 0);
  for (int rank = 0; rank < shape.ranks; ++rank) plan.per_rank.push_back(schedule.compute_order(shape, rank));
  return plan;
}

}  // namespace warpline::parallel
