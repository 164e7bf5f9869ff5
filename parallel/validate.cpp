#include "parallel/validate.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "kernels/error.h"
#include "parallel/tokens.h"

namespace warpline::parallel {
namespace {

constexpr int kAbsent = -1;

// First position and number of the actions of one kind for one (stage, micro-batch) or message.
struct Found {
  int position = kAbsent;
  int count = 0;
  void add(int at) {
    if (count++ == 0) position = at;
  }
  bool present() const { return count > 0; }
};

struct Cell {
  std::array<Found, 4> of;  // by Op: Forward, BackwardInput, BackwardWeight, Backward
  const Found& operator[](Op op) const { return of[static_cast<std::size_t>(op)]; }
};

// A tensor that one stage makes for its neighbour.
struct Transfer {
  Found send, recv;
};

class Checker {
 public:
  explicit Checker(const Plan& plan) : plan_(plan) {
    const std::size_t cells =
        static_cast<std::size_t>(plan.stages) * static_cast<std::size_t>(plan.micro_batches);
    cells_.resize(cells);
    transfers_[0].resize(cells);
    transfers_[1].resize(cells);
    for (int r = 0; r < plan.ranks; ++r) {
      for (int p = 0; p < length(r); ++p) {
        const Action& action = at(r, p);
        if (is_compute(action.op)) {
          cells_[cell(action.stage, action.micro)].of[static_cast<std::size_t>(action.op)].add(p);
        } else if (is_message(action.op) && joins_neighbours(action)) {
          Transfer& transfer =
              transfers_[static_cast<std::size_t>(action.payload)][cell(reader(action), action.micro)];
          (action.op == Op::Send ? transfer.send : transfer.recv).add(p);
        }
      }
    }
  }

  Report take() { return std::move(report_); }

  void completeness() {  // V1
    const bool backward = plan_.has_backward();
    each_cell([&](int j, int i, const Cell& found) {
      const std::string who = fmt::format("stage {} micro-batch {}", j, i);
      if (found[Op::Forward].count != 1) {
        violate("V1", fmt::format("{} has {} forwards, not 1{}", who, found[Op::Forward].count,
                                  first(j, found[Op::Forward])));
      }
      if (!backward) return;
      const int whole = found[Op::Backward].count;
      const int inputs = found[Op::BackwardInput].count;
      const int weights = found[Op::BackwardWeight].count;
      if ((whole == 1 && inputs == 0 && weights == 0) || (whole == 0 && inputs == 1 && weights == 1)) return;
      violate("V1", fmt::format("{} has {} B, {} I and {} W; it needs one B, or one I and one W{}", who,
                                whole, inputs, weights,
                                first(j, whole > 0 ? found[Op::Backward] : found[Op::BackwardInput])));
    });
  }

  void local_order() {  // V2
    each_cell([&](int j, int i, const Cell& found) {
      const int r = rank_of(j);
      for (const Op op : {Op::Backward, Op::BackwardInput}) before("V2", r, found[Op::Forward], found[op]);
      before("V2", r, found[Op::BackwardInput], found[Op::BackwardWeight]);
      if (j == 0 || rank_of(j - 1) != r) return;
      const Cell& previous = cells_[cell(j - 1, i)];
      before("V2", r, previous[Op::Forward], found[Op::Forward]);
      before("V2", r, gradient_maker(found), gradient_maker(previous));
    });
    std::vector<int> last(static_cast<std::size_t>(plan_.stages), kAbsent);  // B, W or Send of a stage
    for (int r = 0; r < plan_.ranks; ++r) {
      for (int p = 0; p < length(r); ++p) {
        const Action& action = at(r, p);
        if (ends_backward(action.op) || action.op == Op::Send)
          last[static_cast<std::size_t>(action.stage)] = p;
      }
      for (int p = 0; p < length(r); ++p) {
        const Action& action = at(r, p);
        if (action.op == Op::ReduceGrads && last[static_cast<std::size_t>(action.stage)] > p) {
          violate("V2", fmt::format("{} stands before {}", named(r, p),
                                    named(r, last[static_cast<std::size_t>(action.stage)])));
        }
        if (action.op == Op::Step && p + 1 != length(r)) {
          violate("V2", fmt::format("{} is not the last action", named(r, p)));
        }
      }
    }
  }

  void messages_match() {                        // V3
    std::map<int, std::pair<int, int>> tickets;  // to the place of its Send
    for (int r = 0; r < plan_.ranks; ++r) {
      for (int p = 0; p < length(r); ++p) {
        const Action& action = at(r, p);
        if (!is_message(action.op)) continue;
        if (!joins_neighbours(action)) {
          violate("V3",
                  fmt::format("{} does not join neighbour stages in its payload's direction", named(r, p)));
        } else if (rank_of(action.peer_stage) == r) {
          violate("V3", fmt::format("{} stays on its rank; neighbours there hand over without a message",
                                    named(r, p)));
        }
        if (action.peer_rank != rank_of(action.peer_stage)) {
          violate("V3", fmt::format("{} names rank {}; stage {} is on rank {}", named(r, p), action.peer_rank,
                                    action.peer_stage, rank_of(action.peer_stage)));
        }
        if (action.op != Op::Send || action.ticket < 0) continue;
        const auto [other, fresh] = tickets.emplace(action.ticket, std::pair(r, p));
        if (!fresh) {
          violate("V3", fmt::format("{} and {} have one ticket",
                                    named(other->second.first, other->second.second), named(r, p)));
        }
      }
    }
    each_transfer([&](int from, int to, int i, Payload payload, const Transfer& transfer) {
      const int sender = rank_of(from), receiver = rank_of(to);
      if (transfer.send.count == 1 && transfer.recv.count == 1) {
        if (at(sender, transfer.send.position).ticket != at(receiver, transfer.recv.position).ticket) {
          violate("V3", fmt::format("{} and {} differ in ticket", named(sender, transfer.send.position),
                                    named(receiver, transfer.recv.position)));
        }
        return;
      }
      if (!transfer.send.present() && !transfer.recv.present() && !needed(payload, from, i)) return;
      violate("V3", fmt::format("the {} of micro-batch {} from stage {} to stage {} has {} Sends and {} "
                                "Recvs, not one of each{}{}",
                                payload == Payload::Activation ? "activation" : "gradient", i, from, to,
                                transfer.send.count, transfer.recv.count, first(from, transfer.send),
                                first(to, transfer.recv)));
    });
  }

  void made_before_sent() {  // V4
    each_transfer([&](int from, int to, int i, Payload payload, const Transfer& transfer) {
      const auto user = [&](int stage) -> const Found& {
        const Cell& found = cells_[cell(stage, i)];
        return payload == Payload::Activation ? found[Op::Forward] : gradient_maker(found);
      };
      if (transfer.send.present() && !user(from).present()) {
        violate("V4", fmt::format("{} has no action that makes its tensor",
                                  named(rank_of(from), transfer.send.position)));
      }
      before("V4", rank_of(from), user(from), transfer.send);
      before("V4", rank_of(to), transfer.recv, user(to));
    });
  }

  void same_order_at_both_ends() {  // V5
    using Place = std::pair<int, int>;
    struct Ends {
      std::vector<Place> sends, recvs;
    };
    std::map<std::pair<int, int>, Ends> channels;
    for (int r = 0; r < plan_.ranks; ++r) {
      for (int p = 0; p < length(r); ++p) {
        const Action& action = at(r, p);
        if (action.op == Op::Send) channels[{r, action.peer_rank}].sends.emplace_back(r, p);
        if (action.op == Op::Recv) channels[{action.peer_rank, r}].recvs.emplace_back(r, p);
      }
    }
    for (const auto& [ranks, ends] : channels) {
      const std::size_t both = std::min(ends.sends.size(), ends.recvs.size());
      std::size_t k = 0;
      while (k < both && same_message(ends.sends[k], ends.recvs[k])) ++k;
      if (k < both) {
        violate("V5", fmt::format("message {} from rank {} to rank {}: {} meets {}", k, ranks.first,
                                  ranks.second, named(ends.sends[k].first, ends.sends[k].second),
                                  named(ends.recvs[k].first, ends.recvs[k].second)));
      } else if (ends.sends.size() != ends.recvs.size()) {
        const Place odd = ends.sends.size() > both ? ends.sends[both] : ends.recvs[both];
        violate("V5",
                fmt::format(
                    "rank {} sends rank {} {} messages, which takes {}; the first without a partner is {}",
                    ranks.first, ranks.second, ends.sends.size(), ends.recvs.size(),
                    named(odd.first, odd.second)));
      }
    }
  }

  void tickets_increase() {  // V7
    for (int r = 0; r < plan_.ranks; ++r) {
      int previous = kAbsent;
      for (int p = 0; p < length(r); ++p) {
        const Action& action = at(r, p);
        if (!is_message(action.op)) continue;
        if (action.ticket < 0) {
          violate("V7", fmt::format("{} has no ticket", named(r, p)));
        } else if (previous != kAbsent && action.ticket <= at(r, previous).ticket) {
          violate("V7", fmt::format("{} comes after {}", named(r, p), named(r, previous)));
        }
        previous = p;
      }
    }
  }

  void reduced_once() {  // V10
    const bool backward = plan_.has_backward();
    std::vector<int> reduced(static_cast<std::size_t>(plan_.stages), 0);
    for (int r = 0; r < plan_.ranks; ++r) {
      int steps = 0;
      for (int p = 0; p < length(r); ++p) {
        const Action& action = at(r, p);
        if (action.op == Op::Step) ++steps;
        if (action.op != Op::ReduceGrads) continue;
        int& next = reduced[static_cast<std::size_t>(action.stage)];
        if (action.bucket != next)
          violate("V10", fmt::format("{} where bucket {} is next", named(r, p), next));
        ++next;
      }
      const int expected = backward ? 1 : 0;
      if (steps != expected) {
        violate("V10", fmt::format("rank {} has {} steps (S), not {}", r, steps, expected));
      }
    }
    for (std::size_t j = 0; j < reduced.size(); ++j) {
      if (reduced[j] == (backward ? plan_.buckets[j] : 0)) continue;
      violate("V10", fmt::format("stage {} reduces {} buckets; it has {}", j, reduced[j], plan_.buckets[j]));
    }
  }

 private:
  int length(int rank) const {
    return static_cast<int>(plan_.per_rank[static_cast<std::size_t>(rank)].size());
  }
  const Action& at(int rank, int position) const {
    return plan_.per_rank[static_cast<std::size_t>(rank)][static_cast<std::size_t>(position)];
  }
  int rank_of(int stage) const { return plan_.stage_to_rank[static_cast<std::size_t>(stage)]; }
  std::size_t cell(int stage, int micro) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(plan_.micro_batches) +
           static_cast<std::size_t>(micro);
  }
  static int sender(const Action& action) { return action.op == Op::Send ? action.stage : action.peer_stage; }
  static int reader(const Action& action) { return action.op == Op::Send ? action.peer_stage : action.stage; }
  static bool joins_neighbours(const Action& action) {
    return reader(action) - sender(action) == (action.payload == Payload::Activation ? 1 : -1);
  }
  static const Found& gradient_maker(const Cell& found) {
    return found[Op::Backward].present() ? found[Op::Backward] : found[Op::BackwardInput];
  }
  bool same_message(std::pair<int, int> send, std::pair<int, int> recv) const {
    const Action& a = at(send.first, send.second);
    const Action& b = at(recv.first, recv.second);
    return a.payload == b.payload && a.micro == b.micro && sender(a) == sender(b) && reader(a) == reader(b);
  }
  // Whether the sender's stage makes this tensor at all: an inference plan has no gradients.
  bool needed(Payload payload, int from, int micro) const {
    const Cell& found = cells_[cell(from, micro)];
    return payload == Payload::Activation ? found[Op::Forward].present() : gradient_maker(found).present();
  }

  std::string named(int rank, int position) const {
    return fmt::format("{} (rank {} position {})", to_token(at(rank, position)), rank, position);
  }
  std::string first(int stage, const Found& found) const {
    return found.present() ? "; first " + named(rank_of(stage), found.position) : "";
  }
  void violate(const char* rule, std::string message) {
    report_.violations.push_back({rule, std::move(message)});
  }
  void before(const char* rule, int rank, const Found& earlier, const Found& later) {
    if (!earlier.present() || !later.present() || earlier.position < later.position) return;
    violate(rule, fmt::format("{} must come before {}", named(rank, earlier.position),
                              named(rank, later.position)));
  }

  template <class F>
  void each_cell(F visit) const {
    for (int j = 0; j < plan_.stages; ++j) {
      for (int i = 0; i < plan_.micro_batches; ++i) visit(j, i, cells_[cell(j, i)]);
    }
  }
  // Tensors that cross ranks.
  template <class F>
  void each_transfer(F visit) const {
    for (int j = 0; j + 1 < plan_.stages; ++j) {
      if (rank_of(j) == rank_of(j + 1)) continue;
      for (int i = 0; i < plan_.micro_batches; ++i) {
        visit(j, j + 1, i, Payload::Activation, transfers_[0][cell(j + 1, i)]);
        visit(j + 1, j, i, Payload::Gradient, transfers_[1][cell(j, i)]);
      }
    }
  }

  const Plan& plan_;
  std::vector<Cell> cells_;                         // by cell()
  std::array<std::vector<Transfer>, 2> transfers_;  // by payload, then by the reader's cell()
  Report report_;
};

Report bad_form(const Plan& plan) {
  Report report;
  std::string problem = form_problem(plan);
  if (!problem.empty()) report.violations.push_back({"form", std::move(problem)});
  return report;
}

}  // namespace

bool Report::breaks(const std::string& rule) const {
  return std::any_of(violations.begin(), violations.end(),
                     [&](const Violation& v) { return v.rule == rule; });
}

std::string Report::to_string() const {
  if (ok()) return "valid; no deadlock on any channel model: V2, V3, V4 and V7 hold, which imply V6\n";
  constexpr std::size_t kMostShown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostShown, violations.size()); ++i) {
    text += fmt::format("{}: {}\n", violations[i].rule, violations[i].message);
  }
  if (violations.size() > kMostShown) text += fmt::format("and {} more\n", violations.size() - kMostShown);
  return text;
}

Report validate(const Plan& plan) {
  Report report = bad_form(plan);
  if (!report.ok()) return report;
  Checker checker(plan);
  checker.completeness();
  checker.local_order();
  checker.messages_match();
  checker.made_before_sent();
  checker.same_order_at_both_ends();
  checker.tickets_increase();
  checker.reduced_once();
  return checker.take();
}

Report validate_compute(const Plan& plan) {
  Report report = bad_form(plan);
  if (!report.ok()) return report;
  Checker checker(plan);
  checker.completeness();
  checker.local_order();
  return checker.take();
}

void require_valid(const Report& report) {
  if (!report.ok()) fail<ValueError>("plan", "the plan breaks its rules:\n{}", report.to_string());
}

}  // namespace warpline::parallel
