#include "parallel/agreement.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "kernels/error.h"
#include "parallel/tokens.h"

namespace warpline::parallel {
namespace {

// FNV-1a, 64 bit, over the bytes of each number, lowest first.
class Hash {
 public:
  void add(int value) {
    auto bits = static_cast<std::uint32_t>(value);
    for (int byte = 0; byte < 4; ++byte, bits >>= 8U) {
      state_ = (state_ ^ (bits & 0xffU)) * 0x100000001b3ULL;
    }
  }
  // With its length, so that neighbouring lists cannot trade elements unseen.
  void add(const std::vector<int>& values) {
    add(static_cast<int>(values.size()));
    for (const int value : values) add(value);
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

std::string words(const std::vector<int>& values) { return fmt::format("{}", fmt::join(values, " ")); }

std::string cell(const std::vector<Action>& actions, std::size_t position) {
  if (position >= actions.size()) return "the end of the list";
  const Action& action = actions[position];
  if (!is_message(action.op)) return to_token(action);
  return fmt::format("{} with rank {}", to_token(action), action.peer_rank);
}

}  // namespace

std::uint64_t plan_hash(const Plan& plan) {
  Hash hash;
  for (const int size : {plan.stages, plan.ranks, plan.micro_batches, plan.chunks}) hash.add(size);
  hash.add(plan.stage_to_rank);
  hash.add(plan.buckets);
  for (const std::vector<Action>& actions : plan.per_rank) {
    hash.add(static_cast<int>(actions.size()));
    for (const Action& a : actions) {
      for (const int field : {static_cast<int>(a.op), static_cast<int>(a.payload), a.stage, a.micro,
                              a.peer_rank, a.peer_stage, a.ticket, a.bucket}) {
        hash.add(field);
      }
    }
  }
  return hash.value();
}

std::string first_difference(const Plan& first, const Plan& second) {
  const auto differ = [](const char* what, const auto& a, const auto& b) {
    return fmt::format("{}: {} in the first plan, {} in the second", what, a, b);
  };
  if (first.ranks != second.ranks) return differ("ranks", first.ranks, second.ranks);
  if (first.chunks != second.chunks) return differ("chunks", first.chunks, second.chunks);
  if (first.stages != second.stages) return differ("stages", first.stages, second.stages);
  if (first.micro_batches != second.micro_batches) {
    return differ("micro-batches", first.micro_batches, second.micro_batches);
  }
  if (first.stage_to_rank != second.stage_to_rank) {
    return differ("stage map", words(first.stage_to_rank), words(second.stage_to_rank));
  }
  if (first.buckets != second.buckets) {
    return differ("buckets", words(first.buckets), words(second.buckets));
  }
  if (first.per_rank.size() != second.per_rank.size()) {
    return differ("lists of actions", first.per_rank.size(), second.per_rank.size());
  }
  for (std::size_t r = 0; r < first.per_rank.size(); ++r) {
    const std::vector<Action>& a = first.per_rank[r];
    const std::vector<Action>& b = second.per_rank[r];
    const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    if (at == a.end() && other == b.end()) continue;
    const auto position = static_cast<std::size_t>(at - a.begin());
    return differ(fmt::format("rank {} position {}", r, position).c_str(), cell(a, position),
                  cell(b, position));
  }
  return "";
}

}  // namespace warpline::parallel
