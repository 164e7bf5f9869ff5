// Plans for tests: the sweep that every schedule runs, a lowering that is wrong on purpose, and a judge that
// shares no code with the validator.
#pragma once

#include <functional>
#include <string>

#include "parallel/plan.h"
#include "parallel/schedule.h"

namespace warpline::test {

// Calls visit for every schedule and every shape n 1..8, m 1..16 that it supports; returns how many.
int sweep_plans(const std::function<void(const parallel::Schedule&, const parallel::PipelineShape&,
                                         const parallel::Plan&)>& visit);

// The obvious lowering, without tickets: each Recv just before its use, each Send just after its make. Runs
// with buffered sends; with rendezvous sends 1F1B hangs for every m >= 2 and n >= 2.
parallel::Plan place_naively(const parallel::Plan& compute_only);

// Runs the plan under the strictest model: a rank does one thing at a time in list order, and Send and Recv
// both block until they meet. Empty: it ends and every action had what it needs; otherwise what went wrong.
std::string rendezvous_problem(const parallel::Plan& plan);

}  // namespace warpline::test
