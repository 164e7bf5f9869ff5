#include "parallel/tokens.h"

#include <charconv>
#include <optional>

#include "kernels/error.h"

namespace warpline::parallel {
namespace {

// Takes words from the front of a token; any failure shows as an empty optional.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::optional<int> number() {
    int value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    const auto length = static_cast<std::size_t>(end - rest_.data());
    if (error != std::errc() || value < 0 || rest_[0] == '-' || (length > 1 && rest_[0] == '0')) return {};
    rest_.remove_prefix(length);
    return value;
  }
  char letter() {
    if (rest_.empty()) return '\0';
    const char first = rest_[0];
    rest_.remove_prefix(1);
    return first;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

std::optional<Action> read(std::string_view text) {
  if (text == "S") return Action{.op = Op::Step};
  Reader reader(text);
  Action action;
  const std::optional<int> stage = reader.number();
  const char kind = reader.letter();
  if (!stage) return {};
  action.stage = *stage;
  if (kind == '>' || kind == '<') {
    action.op = kind == '>' ? Op::Send : Op::Recv;
    const std::optional<int> peer = reader.number();
    const char payload = reader.letter();
    if (!peer || (payload != 'a' && payload != 'g')) return {};
    action.peer_stage = *peer;
    action.payload = payload == 'a' ? Payload::Activation : Payload::Gradient;
  } else if (kind == 'F' || kind == 'B' || kind == 'I' || kind == 'W') {
    action.op = kind == 'F'   ? Op::Forward
                : kind == 'B' ? Op::Backward
                : kind == 'I' ? Op::BackwardInput
                              : Op::BackwardWeight;
  } else if (kind == 'R') {
    action.op = Op::ReduceGrads;
  } else {
    return {};
  }
  const std::optional<int> index = reader.number();
  if (!index) return {};
  (action.op == Op::ReduceGrads ? action.bucket : action.micro) = *index;
  if (is_message(action.op) && !reader.at_end()) {
    if (reader.letter() != '#') return {};
    const std::optional<int> ticket = reader.number();
    if (!ticket) return {};
    action.ticket = *ticket;
  }
  if (!reader.at_end()) return {};
  return action;
}

}  // namespace

std::string to_token(const Action& action) {
  const auto message = [&](char direction) {
    const std::string ticket = action.ticket < 0 ? "" : fmt::format("#{}", action.ticket);
    return fmt::format("{}{}{}{}{}{}", action.stage, direction, action.peer_stage,
                       action.payload == Payload::Activation ? 'a' : 'g', action.micro, ticket);
  };
  switch (action.op) {
    case Op::Forward:
      return fmt::format("{}F{}", action.stage, action.micro);
    case Op::BackwardInput:
      return fmt::format("{}I{}", action.stage, action.micro);
    case Op::BackwardWeight:
      return fmt::format("{}W{}", action.stage, action.micro);
    case Op::Backward:
      return fmt::format("{}B{}", action.stage, action.micro);
    case Op::Send:
      return message('>');
    case Op::Recv:
      return message('<');
    case Op::ReduceGrads:
      return fmt::format("{}R{}", action.stage, action.bucket);
    case Op::Step:
      return "S";
  }
  return "?";  // a value outside the enumeration
}

Action parse_token(std::string_view text, const std::vector<int>& stage_to_rank) {
  std::optional<Action> action = read(text);
  if (!action) {
    fail<ValueError>("token",
                     "'{}' is not an action; expected one like 2F0, 2B0, 2>3a0#12, 2<3g0#17, 2R1 or S", text);
  }
  const auto known = [&](int stage) { return static_cast<std::size_t>(stage) < stage_to_rank.size(); };
  if (action->op != Op::Step && !known(action->stage)) {
    fail<ValueError>("token", "'{}' names stage {}; there are {}", text, action->stage, stage_to_rank.size());
  }
  if (is_message(action->op)) {
    if (!known(action->peer_stage)) {
      fail<ValueError>("token", "'{}' names stage {}; there are {}", text, action->peer_stage,
                       stage_to_rank.size());
    }
    action->peer_rank = stage_to_rank[static_cast<std::size_t>(action->peer_stage)];
  }
  return *action;
}

}  // namespace warpline::parallel
