// Plans as text: what is written reads back equal, and nothing else is read. Agreement between ranks (V9).
#include "parallel/plan_csv.h"

#include <random>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "kernels/error.h"
#include "parallel/agreement.h"
#include "parallel/lowering.h"
#include "parallel/schedule.h"
#include "parallel/tokens.h"
#include "tests/support/options.h"
#include "tests/support/plans.h"

using namespace warpline;
using namespace warpline::parallel;

namespace {

const test::Offers offers{false, true};

const std::string kHeader =
    "warpline-plan,1,ranks=2,chunks=1,micro_batches=2,stage_to_rank=0 1,buckets=0 0\n";
const std::string kFirst = "0,0F0,0>1a0#0,0F1,0>1a1#1,0<1g1#2,0B1,0<1g0#3,0B0,S\n";
const std::string kSecond = "1,1<0a0#0,1F0,1<0a1#1,1F1,1B1,1>0g1#2,1B0,1>0g0#3,S\n";

Plan lowered(const std::string& name, int n, int m) {
  const Plan plan = compute_plan(find_schedule(name), {.ranks = n, .micro_batches = m});
  std::vector<int> buckets;
  for (int j = 0; j < n; ++j) buckets.push_back(j % 3);
  return lower(plan, {.buckets = buckets});
}

void refused(const std::string& text, const std::string& why) {
  CHECK_THROWS_WITH(plan_from_csv(text), Catch::Contains(why));
}

}  // namespace

TEST_CASE("plans survive the way to text and back", "[plan_csv]") {
  int equal = 0;
  const int plans =
      test::sweep_plans([&](const Schedule& schedule, const PipelineShape& shape, const Plan& plan) {
        const Plan full = lowered(std::string(schedule.name), shape.ranks, shape.micro_batches);
        const bool same = plan_from_csv(to_csv(full)) == full && plan_from_csv(to_csv(plan)) == plan;
        CHECK(same);
        equal += same ? 1 : 0;
      });
  fmt::print("plans read back equal: {} of {}\n", equal, plans);
  CHECK(to_csv(plan_from_csv(kHeader + kFirst + kSecond)) == kHeader + kFirst + kSecond);
}

TEST_CASE("every kind of token", "[plan_csv]") {
  const std::vector<int> map = {0, 1, 2, 0, 1, 2};
  for (const std::string token : {"2F0", "2I0", "2W10", "2B0", "2>3a0#12", "2<3g7#0", "4>3g0", "5R1", "S"}) {
    CHECK(to_token(parse_token(token, map)) == token);
  }
  CHECK(parse_token("2>3a0#12", map) == Action{.op = Op::Send,
                                               .payload = Payload::Activation,
                                               .stage = 2,
                                               .micro = 0,
                                               .peer_rank = 0,
                                               .peer_stage = 3,
                                               .ticket = 12});
  for (const std::string token :
       {"",       "2",        "F0",       "2F",        "2F0junk", "2F0 ", " 2F0", "02F0", "2F00",
        "2F-1",   "-2F0",     "+2F0",     "2F+1",      "2X0",     "2f0",  "2>3a", "2>a0", "2>3b0",
        "2>3a0#", "2>3a0#-1", "2>3a0#01", "2>3a0#1#2", "2F0#1",   "2R",   "S1",   "1S",   "99999999999F0",
        "6F0",    "2>6a0",    "2~3a0"}) {
    INFO(token);
    CHECK_THROWS_AS(parse_token(token, map), ValueError);
  }
}

TEST_CASE("what is not exactly a plan is refused with line and column", "[plan_csv]") {
  refused("", "line 1, column 1: 'warpline-plan' must stand here");
  refused("warpline-plan,2,ranks=2", "line 1, column 15: '1' must stand here");
  refused("warpline-plan,1,ranks=two", "line 1, column 23: a plain whole number");
  refused(kHeader, "line 2, column 1: '0' must stand here");
  refused(kHeader + "0,0F0junk\n", "line 2, column 3: [token] '0F0junk' is not an action");
  refused(kHeader + "0,0F0,,0F1\n", "line 2, column 7: [token] '' is not an action");
  refused(kHeader + "0,0F0,1F0\n", "line 2, column 7: 1F0: stage 1 is on rank 1");
  refused(kHeader + "0,0F0,0F2\n", "line 2, column 7: 0F2: micro-batches are 0 to 1");
  refused(kHeader + "0,0F0\r\n1\n", "line 2, column 3: [token]");
  refused(kHeader + kFirst + "2,S\n", "line 3, column 1: '1' must stand here");
  refused(kHeader + kFirst + "1,1F0", "line 3, column 6: a comma must stand here");
  refused(kHeader + kFirst + kSecond + "\n", "line 4, column 1: 2 ranks, but another line");
  refused("warpline-plan,1,ranks=2,chunks=1,micro_batches=2,stage_to_rank=0 0,buckets=0 0\n0\n1\n",
          "rank 0 holds 2 stages");
  refused("warpline-plan,1,ranks=2000000000,chunks=2000000000,micro_batches=1,stage_to_rank=0,buckets=0\n",
          "need a stage map");
  refused("warpline-plan,1,ranks=0,chunks=1,micro_batches=2,stage_to_rank=0,buckets=0\n", "at least 1");
}

TEST_CASE("a message to the wrong rank cannot be written", "[plan_csv]") {
  Plan plan = lowered("gpipe", 2, 1);
  plan.per_rank[0][1].peer_rank = 0;
  CHECK_THROWS_AS(to_csv(plan), ValueError);
}

TEST_CASE("mutated text is refused or means what it says", "[plan_csv]") {
  std::mt19937 random(static_cast<unsigned>(test::options().seed));
  const std::string alphabet = "0123456789FBIWRSag<>#,=- \n\r\tx";
  int texts = 0, refusals = 0, read = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    std::string text = to_csv(lowered(trial % 2 == 0 ? "gpipe" : "1f1b", 1 + trial % 4, 1 + trial % 5));
    const std::size_t changes = 1 + random() % 3;
    for (std::size_t k = 0; k < changes; ++k) {
      const std::size_t at = random() % text.size();
      const char letter = alphabet[random() % alphabet.size()];
      switch (random() % 4) {
        case 0:
          text[at] = letter;
          break;
        case 1:
          text.erase(at, 1 + random() % 4);
          break;
        case 2:
          text.insert(at, 1, letter);
          break;
        default:
          text.insert(random() % text.size(), text.substr(at, random() % 12));
      }
      if (text.empty()) text = "w";
    }
    ++texts;
    try {
      const Plan plan = plan_from_csv(text);
      CHECK(to_csv(plan) == text);  // read whole, nothing guessed
      ++read;
    } catch (const ValueError&) {
      ++refusals;
    }
  }
  CHECK(refusals + read == texts);
  CHECK(refusals > texts / 2);
  fmt::print("mutated texts handled: {} of {} ({} refused, {} read and written back letter for letter)\n",
             refusals + read, texts, refusals, read);
}

TEST_CASE("V9: ranks that differ find the first difference", "[agreement]") {
  const Plan plan = lowered("1f1b", 3, 4);
  CHECK(plan_hash(plan) == plan_hash(lowered("1f1b", 3, 4)));
  CHECK(first_difference(plan, plan).empty());
  CHECK(first_difference(plan, lowered("1f1b", 3, 5)) ==
        "micro-batches: 4 in the first plan, 5 in the second");
  CHECK(first_difference(plan, lowered("1f1b", 4, 4)) == "ranks: 3 in the first plan, 4 in the second");
  Plan other = plan;
  other.per_rank[1].pop_back();
  CHECK(first_difference(plan, other).find("S in the first plan, the end of the list in the second") !=
        std::string::npos);
  other = plan;
  other.per_rank[2][0].peer_rank = 0;
  CHECK(first_difference(plan, other) ==
        "rank 2 position 0: 2<1a0#2 with rank 1 in the first plan, 2<1a0#2 with rank 0 in the second");
  CHECK(plan_hash(plan) != plan_hash(other));
}

TEST_CASE("the hash sees every field", "[agreement]") {
  const Plan plan = lowered("gpipe", 2, 2);
  int seen = 0, fields = 0;
  const auto differs = [&](const Plan& other) {
    ++fields;
    seen += plan_hash(other) != plan_hash(plan) && !first_difference(plan, other).empty() ? 1 : 0;
  };
  for (int* (*field)(Action&) : {+[](Action& a) { return &a.stage; }, +[](Action& a) { return &a.micro; },
                                 +[](Action& a) { return &a.ticket; }}) {
    Plan other = plan;
    ++*field(other.per_rank[0][1]);
    differs(other);
  }
  Plan other = plan;
  other.per_rank[0][1].op = Op::Recv;
  differs(other);
  other = plan;
  other.per_rank[0][1].payload = Payload::Gradient;
  differs(other);
  other = plan;
  std::swap(other.stage_to_rank[0], other.stage_to_rank[1]);
  differs(other);
  other = plan;
  other.buckets = {0, 2};
  differs(other);
  CHECK(seen == fields);
}
