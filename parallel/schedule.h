// The author's layer. A schedule is a pure function that gives the order of forward and backward actions of
// one rank; messages, reductions and the optimiser step are added by lowering. A new schedule is one file in
// parallel/schedules/ and one row in the table of schedule.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parallel/plan.h"

namespace warpline::parallel {

struct PipelineShape {
  int ranks = 1;          // n
  int micro_batches = 1;  // m
  int chunks = 1;         // v
  int stages() const { return ranks * chunks; }
};

// Which rank holds which stage, for n = 3, v = 2:
//   Linear  0 1 2        one stage a rank
//   Looped  0 1 2 0 1 2  interleaved: from the last rank back to the first
//   V       0 1 2 2 1 0  there and back: the first and the last stage share a rank
enum class Placement { Linear, Looped, V };
std::vector<int> stage_to_rank(Placement placement, const PipelineShape& shape);

struct Schedule {
  std::string_view name;
  std::string_view what;  // one line for people
  Placement placement = Placement::Linear;
  bool has_backward = true;
  // Why this shape is refused; empty: supported. The shape is in range (check_shape).
  std::string (*refusal)(const PipelineShape& shape) = nullptr;
  // F, I, W and B only.
  std::vector<Action> (*compute_order)(const PipelineShape& shape, int rank) = nullptr;
  // Most (stage, micro-batch) pairs whose activations a rank holds at once.
  int (*live_bound)(const PipelineShape& shape, int rank) = nullptr;
};

const std::vector<Schedule>& schedules();
// ValueError for an unknown name; it lists all names, the nearest first.
const Schedule& find_schedule(std::string_view name);

// ValueError: a count below 1, or more (stage, micro-batch) pairs than a plan in memory should hold.
void check_shape(const PipelineShape& shape);
// The compute-only plan of all ranks. ValueError with the reason where the schedule refuses the shape.
Plan compute_plan(const Schedule& schedule, const PipelineShape& shape);

}  // namespace warpline::parallel
