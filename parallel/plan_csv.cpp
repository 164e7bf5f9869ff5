#include "parallel/plan_csv.h"

#include <charconv>
#include <cstddef>
#include <utility>

#include <fmt/ranges.h>

#include "kernels/error.h"
#include "parallel/tokens.h"

namespace warpline::parallel {
namespace {

constexpr std::string_view kName = "warpline-plan";
constexpr std::string_view kVersion = "1";
constexpr int kMostStages = 1 << 20;

// Takes the text apart and knows where it is, for errors. Lines and columns count from 1.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  bool at_line_end() const { return !rest_.empty() && rest_[0] == '\n'; }
  void line_end() {
    if (!at_line_end()) refuse("the line must end here");
    rest_.remove_prefix(1);
    ++line_;
    column_ = 1;
  }
  // The rest of the cell: up to a comma or the end of the line.
  std::string_view cell() {
    cell_column_ = column_;
    const std::string_view word = rest_.substr(0, rest_.find_first_of(",\n"));
    skip(word.size());
    return word;
  }
  void comma() {
    if (rest_.empty() || rest_[0] != ',') refuse("a comma must stand here");
    skip(1);
  }
  void word(std::string_view expected) {
    if (!rest_.starts_with(expected)) refuse(fmt::format("'{}' must stand here", expected));
    skip(expected.size());
  }
  int number() {
    int value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    const auto length = static_cast<std::size_t>(end - rest_.data());
    if (error != std::errc() || value < 0 || rest_[0] == '-' || (length > 1 && rest_[0] == '0')) {
      refuse("a plain whole number must stand here");
    }
    skip(length);
    return value;
  }
  std::vector<int> numbers() {  // parted by single blanks
    std::vector<int> values{number()};
    while (!rest_.empty() && rest_[0] == ' ') {
      skip(1);
      values.push_back(number());
    }
    return values;
  }

  [[noreturn]] void refuse(const std::string& why) const { refuse_at(column_, why); }
  [[noreturn]] void refuse_cell(const std::string& why) const { refuse_at(cell_column_, why); }

 private:
  [[noreturn]] void refuse_at(std::size_t column, const std::string& why) const {
    fail<ValueError>("plan csv", "line {}, column {}: {}", line_, column, why);
  }
  void skip(std::size_t count) {
    rest_.remove_prefix(count);
    column_ += count;
  }

  std::string_view rest_;
  std::size_t line_ = 1, column_ = 1, cell_column_ = 1;
};

Plan read_header(Reader& reader) {
  Plan plan;
  reader.word(kName);
  reader.comma();
  reader.word(kVersion);
  reader.comma();
  reader.word("ranks=");
  plan.ranks = reader.number();
  reader.comma();
  reader.word("chunks=");
  plan.chunks = reader.number();
  reader.comma();
  reader.word("micro_batches=");
  plan.micro_batches = reader.number();
  reader.comma();
  reader.word("stage_to_rank=");
  plan.stage_to_rank = reader.numbers();
  reader.comma();
  reader.word("buckets=");
  plan.buckets = reader.numbers();
  if (plan.ranks < 1 || plan.chunks < 1 || plan.micro_batches < 1) reader.refuse("counts must be at least 1");
  const long long stages = static_cast<long long>(plan.ranks) * plan.chunks;
  if (stages > kMostStages || static_cast<std::size_t>(stages) != plan.stage_to_rank.size()) {
    reader.refuse(fmt::format("{} ranks x {} chunks need a stage map of {} entries, not {}", plan.ranks,
                              plan.chunks, stages, plan.stage_to_rank.size()));
  }
  plan.stages = static_cast<int>(stages);
  // Checks the header alone: with no actions only the header can be wrong.
  plan.per_rank.resize(static_cast<std::size_t>(plan.ranks));
  const std::string problem = form_problem(plan);
  if (!problem.empty()) reader.refuse(problem);
  reader.line_end();
  return plan;
}

}  // namespace

std::string to_csv(const Plan& plan) {
  require_form(plan, "plan csv");
  std::string text = fmt::format("{},{},ranks={},chunks={},micro_batches={},stage_to_rank={},buckets={}\n",
                                 kName, kVersion, plan.ranks, plan.chunks, plan.micro_batches,
                                 fmt::join(plan.stage_to_rank, " "), fmt::join(plan.buckets, " "));
  for (int rank = 0; rank < plan.ranks; ++rank) {
    text += fmt::format("{}", rank);
    for (const Action& action : plan.per_rank[static_cast<std::size_t>(rank)]) {
      if (is_message(action.op) &&
          action.peer_rank != plan.stage_to_rank[static_cast<std::size_t>(action.peer_stage)]) {
        fail<ValueError>("plan csv", "{} of rank {} names rank {}; stage {} is on rank {}", to_token(action),
                         rank, action.peer_rank, action.peer_stage,
                         plan.stage_to_rank[static_cast<std::size_t>(action.peer_stage)]);
      }
      text += ',' + to_token(action);
    }
    text += '\n';
  }
  return text;
}

Plan plan_from_csv(std::string_view text) {
  Reader reader(text);
  Plan plan = read_header(reader);
  for (int rank = 0; rank < plan.ranks; ++rank) {
    reader.word(fmt::format("{}", rank));
    std::vector<Action>& actions = plan.per_rank[static_cast<std::size_t>(rank)];
    while (!reader.at_line_end()) {
      reader.comma();
      const std::string_view cell = reader.cell();
      try {
        actions.push_back(parse_token(cell, plan.stage_to_rank));
      } catch (const ValueError& error) {
        reader.refuse_cell(error.what());
      }
      const std::string problem = action_problem(plan, actions.back(), rank);
      if (!problem.empty()) reader.refuse_cell(fmt::format("{}: {}", cell, problem));
    }
    reader.line_end();
  }
  if (!reader.at_end()) reader.refuse(fmt::format("{} ranks, but another line", plan.ranks));
  return plan;
}

}  // namespace warpline::parallel
