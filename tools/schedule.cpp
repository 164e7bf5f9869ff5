// `warpline schedule`: a pipeline schedule on paper. Draws when each rank works and waits under given costs.
#include "parallel/schedule.h"

#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "kernels/error.h"
#include "parallel/draw.h"
#include "parallel/lowering.h"
#include "parallel/simulate.h"
#include "parallel/validate.h"
#include "tools/commands.h"

namespace warpline::tools {
namespace {

struct Arguments {
  std::string name, costs = "1,1,1", latency = "0";
  int stages = 0, micro_batches = 0, chunks = 1;
  bool csv = false, colour = false, list = false;
};

constexpr const char* kFooter = R"(
Letters: F forward, B backward (I its input-gradient half, W its weight-gradient half), each with
its micro-batch; a dot is a rank that waits. Times are in units of your own.

  makespan    from the first forward to the last backward
  idle share  1 - busy / (ranks x makespan): of all the ranks' time, the part spent waiting
  span idle   what a rank waits between its own first start and last end
  peak live   micro-batches whose activations a rank holds at once

Examples
  warpline schedule --name gpipe --stages 4 --micro-batches 8
  warpline schedule --name 1f1b --stages 4 --micro-batches 8 --latency 0.3
  warpline schedule --name gpipe --stages 2 --micro-batches 4 --costs "1,1,1;2,2,2"
)";

// A whole word that is a decimal number of at least 0.
double parse_number(std::string_view word, const char* flag) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool digits = word.find_first_not_of("0123456789.eE+-") == std::string_view::npos;  // no inf, no nan
  if (error != std::errc() || end != word.data() + word.size() || !digits || value < 0) {
    fail<ValueError>("schedule", "{}: '{}' is not a number of at least 0", flag, word);
  }
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    words.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return words;
    begin = end + 1;
  }
}

// "F,I,W" for all stages, or one triple a stage, parted by semicolons.
parallel::Costs parse_costs(const std::string& text, double latency, int stages) {
  const std::vector<std::string_view> triples = split(text, ';');
  const auto count = static_cast<std::size_t>(stages);
  if (triples.size() != 1 && triples.size() != count) {
    fail<ValueError>("schedule", "--costs has {} triples; give one for all stages or {}, one a stage",
                     triples.size(), stages);
  }
  parallel::Costs costs;
  costs.latency = latency;
  for (std::size_t j = 0; j < count; ++j) {
    const std::string_view triple = triples[triples.size() == 1 ? 0 : j];
    const std::vector<std::string_view> words = split(triple, ',');
    if (words.size() != 3) {
      fail<ValueError>("schedule", "--costs: '{}' is not F,I,W (forward, input gradient, weight gradient)",
                       triple);
    }
    costs.forward.push_back(parse_number(words[0], "--costs"));
    costs.backward_input.push_back(parse_number(words[1], "--costs"));
    costs.backward_weight.push_back(parse_number(words[2], "--costs"));
  }
  check_costs(costs, stages);
  return costs;
}

void list_schedules() {
  for (const parallel::Schedule& row : parallel::schedules()) fmt::print("{:<10} {}\n", row.name, row.what);
}

void print_schedule(const Arguments& arguments) {
  const parallel::Schedule& schedule = parallel::find_schedule(arguments.name);
  const parallel::PipelineShape shape{
      .ranks = arguments.stages, .micro_batches = arguments.micro_batches, .chunks = arguments.chunks};
  const parallel::Plan order = parallel::compute_plan(schedule, shape);
  const parallel::Costs costs =
      parse_costs(arguments.costs, parse_number(arguments.latency, "--latency"), order.stages);
  const parallel::Plan plan = parallel::lower(order, {.costs = costs});
  parallel::require_valid(parallel::validate(plan));
  const parallel::Timeline timeline = parallel::simulate(plan, costs);
  if (timeline.makespan <= 0) {
    fail<ValueError>("schedule", "--costs {}: no action of {} takes time", arguments.costs, schedule.name);
  }
  if (arguments.csv) {
    fmt::print("{}", parallel::timeline_csv(plan, timeline));
    return;
  }
  fmt::print("{}, {} stages, {} micro-batches\n\n{}\n", schedule.name, plan.stages, plan.micro_batches,
             parallel::draw(plan, timeline, {.colour = arguments.colour}));
  fmt::print("makespan    {:g}\n", timeline.makespan);
  fmt::print("idle share  {:.1f} %\n", 100 * timeline.idle_share);
  fmt::print("span idle   {:g}\n", fmt::join(timeline.span_idle, " "));
  fmt::print("peak live   {}\n", fmt::join(timeline.peak_live, " "));
}

}  // namespace

void add_schedule(Command program) {
  const Command schedule =
      program.add_command("schedule", "draw a pipeline schedule: who works, who waits, for how long");
  const auto arguments = std::make_shared<Arguments>();
  Arguments& a = *arguments;
  const Flag list = schedule.add_flag("--list", a.list, "print the schedules and what each does");
  const Flag name = schedule.add_option("--name", a.name, "the schedule; see --list");
  const Flag stages =
      schedule.add_option("--stages", a.stages, "pipeline ranks (n), one device each").default_text("");
  const Flag micro =
      schedule.add_option("--micro-batches", a.micro_batches, "pieces of the batch (m)").default_text("");
  schedule.add_option("--chunks", a.chunks, "stages on each rank (v)");
  schedule.add_option(
      "--costs", a.costs,
      "F,I,W: time of a stage's forward, input gradient and weight gradient of one micro-batch; "
      "or one triple a stage: \"F,I,W;F,I,W;...\"");
  schedule.add_option("--latency", a.latency, "time of a message between ranks");
  schedule.add_flag("--csv", a.csv, "print rank, position, action, start and end of every action as CSV");
  schedule.add_flag("--color", a.colour, "draw in colour");
  for (const Flag flag : {name, stages, micro}) flag.excludes(list);
  schedule.footer(kFooter);
  schedule.on_run([arguments, name, stages, micro] {
    if (arguments->list) {
      list_schedules();
      return;
    }
    for (const Flag flag : {name, stages, micro}) {
      if (!flag.given())
        fail<ValueError>("schedule", "{} is missing; see warpline schedule --help", flag.name());
    }
    print_schedule(*arguments);
  });
}

}  // namespace warpline::tools
