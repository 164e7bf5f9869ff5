#include "parallel/simulate.h"

#include <algorithm>
#include <deque>
#include <map>
#include <queue>
#include <utility>

#include "kernels/error.h"
#include "parallel/tokens.h"

namespace warpline::parallel {
namespace {

// Events of one time are taken in the order in which they were caused, which is a topological order even
// where costs are zero, and favours no rank by its number.
struct Event {
  double time = 0;
  std::int64_t sequence = 0;
  bool message = false;
  std::size_t subject = 0;  // message: its index; otherwise the rank whose compute action ends
  bool operator>(const Event& other) const {
    return std::pair(time, sequence) > std::pair(other.time, other.sequence);
  }
};

// One FIFO: of compute actions, or of Sends and Recvs.
struct Queue {
  std::vector<std::size_t> positions;  // in the rank's list
  std::size_t next = 0;
  bool busy = false;
  bool at_end() const { return next == positions.size(); }
};

struct Channel {  // an ordered pair of ranks under a window
  std::deque<std::size_t> made;
  int posted = 0;
};

class Machine {
 public:
  Machine(const Plan& plan, const Costs& costs, Network network)
      : plan_(plan), costs_(costs), network_(network) {
    const auto ranks = static_cast<std::size_t>(plan.ranks);
    const auto pairs = static_cast<std::size_t>(plan.stages) * static_cast<std::size_t>(plan.micro_batches);
    forward_done_.assign(pairs, false);
    present_.assign(2 * pairs, false);
    made_.assign(2 * pairs, false);
    input_done_.assign(pairs, false);
    compute_.resize(ranks);
    traffic_.resize(ranks);
    timeline_.per_rank.resize(ranks);
    for (int i = 0; i < plan.micro_batches; ++i) {
      present_[input(Payload::Activation, 0, i)] = true;
      present_[input(Payload::Gradient, plan.stages - 1, i)] = true;
    }
    for (std::size_t r = 0; r < ranks; ++r) {
      const std::vector<Action>& actions = plan.per_rank[r];
      timeline_.per_rank[r].resize(actions.size());
      for (std::size_t p = 0; p < actions.size(); ++p) {
        (is_message(actions[p].op) ? traffic_[r] : compute_[r]).positions.push_back(p);
      }
    }
  }

  Timeline run() {
    for (std::size_t r = 0; r < compute_.size(); ++r) start(r);
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      if (event.message) {
        arrive(event.subject);
      } else {
        finish(event.subject);
      }
    }
    if (!all_done()) report_stop();
    return std::move(timeline_);
  }

 private:
  bool one_queue() const { return network_.kind == Network::Kind::OneQueue; }
  std::size_t cell(int stage, int micro) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(plan_.micro_batches) +
           static_cast<std::size_t>(micro);
  }
  // Inputs, and the messages that carry them, are numbered by what they are and who reads them.
  std::size_t input(Payload payload, int reader, int micro) const {
    return (payload == Payload::Gradient ? pairs() : 0) + cell(reader, micro);
  }
  std::size_t pairs() const { return forward_done_.size(); }
  Transfer message(std::size_t index) const {
    const bool gradient = index >= pairs();
    const auto m = static_cast<std::size_t>(plan_.micro_batches);
    const std::size_t place = index % pairs();
    const auto reader = static_cast<int>(place / m);
    return {.payload = gradient ? Payload::Gradient : Payload::Activation,
            .stage = gradient ? reader + 1 : reader - 1,
            .peer_stage = reader,
            .micro = static_cast<int>(place % m)};
  }
  std::size_t rank_of(int stage) const {
    return static_cast<std::size_t>(plan_.stage_to_rank[static_cast<std::size_t>(stage)]);
  }
  const Action& head(const Queue& queue, std::size_t rank) const {
    return plan_.per_rank[rank][queue.positions[queue.next]];
  }
  // The message that a Send or Recv belongs to; none if it joins stages that are no neighbours.
  std::size_t message_of(const Action& action) const {
    const bool send = action.op == Op::Send;
    const int from = send ? action.stage : action.peer_stage;
    const int to = send ? action.peer_stage : action.stage;
    const int reader = action.payload == Payload::Activation ? from + 1 : from - 1;
    return reader == to ? input(action.payload, to, action.micro) : kNone;
  }
  void schedule(double delay, bool is_message, std::size_t subject) {
    events_.push({now_ + delay, sequence_++, is_message, subject});
  }

  bool can_start(const Action& action) const {
    switch (action.op) {
      case Op::Forward:
        return present_[input(Payload::Activation, action.stage, action.micro)];
      case Op::Backward:
      case Op::BackwardInput:
        return forward_done_[cell(action.stage, action.micro)] &&
               present_[input(Payload::Gradient, action.stage, action.micro)];
      case Op::BackwardWeight:
        return input_done_[cell(action.stage, action.micro)];
      case Op::ReduceGrads:
      case Op::Step:
        return true;
      case Op::Send:
      case Op::Recv:
        break;
    }
    return false;
  }

  // The rank's next compute action, if it is free and the inputs are there.
  void start(std::size_t rank) {
    Queue& queue = compute_[rank];
    if (queue.busy || queue.at_end() || !can_start(head(queue, rank))) return;
    const Action& action = head(queue, rank);
    const double cost = costs_.of(action);
    queue.busy = true;
    timeline_.per_rank[rank][queue.positions[queue.next]] = {now_, now_ + cost};
    schedule(cost, false, rank);
    if (action.op == Op::Forward && action.stage > 0) {
      consume(action.stage - 1, rank);
    } else if (makes_gradient(action.op) && action.stage + 1 < plan_.stages) {
      consume(action.stage + 1, rank);
    }
  }

  void consume(int maker, std::size_t rank) {
    const std::size_t from = rank_of(maker);
    if (one_queue() || from == rank) return;
    Channel& channel = channels_[{from, rank}];
    --channel.posted;
    post(channel);
  }

  void finish(std::size_t rank) {
    Queue& queue = compute_[rank];
    const Action action = head(queue, rank);
    queue.busy = false;
    ++queue.next;
    timeline_.makespan = std::max(timeline_.makespan, now_);
    if (action.op == Op::Forward) {
      forward_done_[cell(action.stage, action.micro)] = true;
      if (action.stage + 1 < plan_.stages)
        make(input(Payload::Activation, action.stage + 1, action.micro), rank);
    } else if (makes_gradient(action.op)) {
      input_done_[cell(action.stage, action.micro)] = true;
      if (action.stage > 0) make(input(Payload::Gradient, action.stage - 1, action.micro), rank);
    }
    start(rank);
  }

  // A tensor for a neighbour exists: at once where the neighbour is on this rank, otherwise as a message.
  void make(std::size_t index, std::size_t rank) {
    const std::size_t reader = rank_of(message(index).peer_stage);
    if (reader == rank) {
      present_[index] = true;
    } else if (one_queue()) {
      made_[index] = true;
      move(rank);
    } else {
      Channel& channel = channels_[{rank, reader}];
      channel.made.push_back(index);
      post(channel);
    }
  }

  void post(Channel& channel) {
    while (!channel.made.empty() && (network_.window == 0 || channel.posted < network_.window)) {
      leave(channel.made.front());
      channel.made.pop_front();
      ++channel.posted;
    }
  }

  // Starts the message at the head of the rank's queue if it is at the head of its peer's as well.
  void move(std::size_t rank) {
    Queue& queue = traffic_[rank];
    if (queue.busy || queue.at_end()) return;
    const Action& action = head(queue, rank);
    const auto other = static_cast<std::size_t>(action.peer_rank);
    Queue& peer = traffic_[other];
    if (other == rank || other != rank_of(action.peer_stage) || peer.busy || peer.at_end()) return;
    const Action& answer = head(peer, other);
    const std::size_t index = message_of(action);
    if (index == kNone || message_of(answer) != index || answer.op == action.op || !made_[index]) return;
    queue.busy = peer.busy = true;
    leave(index);
  }

  void leave(std::size_t index) {
    Transfer leaving = message(index);
    leaving.start = now_;
    leaving.end = now_ + costs_.latency;
    timeline_.messages.push_back(leaving);
    schedule(costs_.latency, true, index);
  }

  void arrive(std::size_t index) {
    const Transfer arrived = message(index);
    const std::size_t from = rank_of(arrived.stage);
    const std::size_t to = rank_of(arrived.peer_stage);
    present_[index] = true;
    if (one_queue()) {
      for (const std::size_t rank : {from, to}) {
        Queue& queue = traffic_[rank];
        timeline_.per_rank[rank][queue.positions[queue.next]] = {now_ - costs_.latency, now_};
        queue.busy = false;
        ++queue.next;
      }
      move(from);
      move(to);
    }
    start(to);
  }

  bool all_done() const {
    const auto done = [](const Queue& queue) { return queue.at_end(); };
    return std::all_of(compute_.begin(), compute_.end(), done) &&
           (!one_queue() || std::all_of(traffic_.begin(), traffic_.end(), done));
  }

  [[noreturn]] void report_stop() const {
    constexpr int kMostShown = 8;
    std::string stands;
    int shown = 0;
    const auto add = [&](const Queue& queue, std::size_t rank) {
      if (queue.at_end() || ++shown > kMostShown) return;
      stands += fmt::format("{}rank {} position {} waits at {}", shown == 1 ? "" : ", ", rank,
                            queue.positions[queue.next], to_token(head(queue, rank)));
    };
    for (std::size_t r = 0; r < compute_.size(); ++r) {
      add(compute_[r], r);
      if (one_queue()) add(traffic_[r], r);
    }
    if (shown > kMostShown) stands += fmt::format(" and {} more", shown - kMostShown);
    const std::string window =
        network_.window == 0 ? ""
                             : fmt::format("; a window of {} messages may be too small", network_.window);
    fail<ValueError>("simulate", "the plan stops at time {:g}: {}{}", now_, stands, window);
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  const Plan& plan_;
  const Costs& costs_;
  const Network network_;
  double now_ = 0;
  std::int64_t sequence_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Queue> compute_, traffic_;                          // per rank
  std::vector<bool> present_, made_, forward_done_, input_done_;  // by input() or cell()
  std::map<std::pair<std::size_t, std::size_t>, Channel> channels_;
  Timeline timeline_;
};

// Idle and live numbers of one rank. Its compute actions are serial, so list order is time order.
void measure(const std::vector<Action>& actions, const std::vector<Span>& spans, double& busy, double& idle,
             int& peak) {
  int live = 0;
  double first = 0, last = 0, own = 0;
  bool any = false;
  // Without a backward nothing is kept: an input lives through its own forward.
  const bool keeps =
      std::any_of(actions.begin(), actions.end(), [](const Action& a) { return ends_backward(a.op); });
  peak = 0;
  for (std::size_t p = 0; p < actions.size(); ++p) {
    if (!is_compute(actions[p].op)) continue;
    if (!any) first = spans[p].start;
    any = true;
    last = spans[p].end;
    own += spans[p].end - spans[p].start;
    if (actions[p].op == Op::Forward) peak = std::max(peak, ++live);
    if (ends_backward(actions[p].op) || (actions[p].op == Op::Forward && !keeps)) --live;
  }
  busy += own;
  idle = last - first - own;
}

}  // namespace

Timeline simulate(const Plan& plan, const Costs& costs, Network network) {
  require_form(plan, "simulate");
  check_costs(costs, plan.stages);
  Timeline timeline = Machine(plan, costs, network).run();
  const auto ranks = static_cast<std::size_t>(plan.ranks);
  timeline.span_idle.resize(ranks);
  timeline.peak_live.resize(ranks);
  double busy = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    measure(plan.per_rank[r], timeline.per_rank[r], busy, timeline.span_idle[r], timeline.peak_live[r]);
  }
  // A plan whose actions take no time has no share to be idle.
  timeline.idle_share = timeline.makespan <= 0 ? 0 : 1 - busy / (plan.ranks * timeline.makespan);
  return timeline;
}

}  // namespace warpline::parallel
