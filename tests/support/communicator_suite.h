// One suite that every communicator passes. A back end says how it runs ranks; its test file is the macro at
// the end, and whatever only that back end promises.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/context.h"
#include "engine/tensor.h"
#include "parallel/collectives/algorithm.h"
#include "parallel/communicator.h"
#include "tests/support/watchdog.h"

namespace warpline::test {

struct Rank {
  int rank;
  Context& context;
  std::shared_ptr<parallel::Communicator> world;

  Stream stream() const { return context.stream(); }
  template <class T>
  Tensor tensor(const std::vector<T>& values) const {
    return Tensor::from_host(context, values, {static_cast<std::int64_t>(values.size())});
  }
};
using RankBody = std::function<void(Rank& rank)>;

struct RunSettings {
  double timeout_seconds = 30;
  parallel::AllReduceAlgorithm all_reduce = parallel::AllReduceAlgorithm::Automatic;
};

struct CommunicatorCase {
  std::string name;         // "local, rendezvous, order seed 2"
  bool sends_wait = false;  // a send waits for its receiver, however small
  // Runs the body on so many ranks at the same time and rethrows the first error, as run_local() does.
  std::function<void(int ranks, const RunSettings& settings, const RankBody& body)> run;
};

// What each rank's body returned, by rank. Bodies run at the same time: they check nothing themselves.
template <class Body>
auto on_ranks(const CommunicatorCase& backend, int ranks, Body body, const RunSettings& settings = {}) {
  const Watchdog watchdog(120);
  std::vector<decltype(body(std::declval<Rank&>()))> results(static_cast<std::size_t>(ranks));
  backend.run(ranks, settings,
              [&](Rank& rank) { results[static_cast<std::size_t>(rank.rank)] = body(rank); });
  return results;
}

// How a rank, or the whole run, ended.
struct Ending {
  std::string type;  // "TimeoutError", "" where it ended well
  std::string text;
  double seconds = 0;  // since the start
};
struct Endings {
  std::vector<Ending> ranks;
  Ending run;
};
Endings endings(const CommunicatorCase& backend, int ranks, const RankBody& body,
                const RunSettings& settings = {});

// The suite, with its assertions on the calling thread.
void check_order(const CommunicatorCase& backend);
void check_dtypes_and_lifetimes(const CommunicatorCase& backend);
void check_groups(const CommunicatorCase& backend);
void check_all_reduce(const CommunicatorCase& backend);
void check_other_collectives(const CommunicatorCase& backend);
void check_traffic(const CommunicatorCase& backend);
void check_splits(const CommunicatorCase& backend);
void check_refusals(const CommunicatorCase& backend);
void check_mismatches(const CommunicatorCase& backend);
void check_timeouts(const CommunicatorCase& backend);
void check_failing_ranks(const CommunicatorCase& backend);
void check_ranks_that_leave(const CommunicatorCase& backend);
// Sums of random numbers, which show every change of order: the same on each rank and in each case.
void check_same_bits(const std::vector<CommunicatorCase>& backends);

}  // namespace warpline::test

#define WARPLINE_EACH_CASE(backends, part)                             \
  for (const warpline::test::CommunicatorCase& backend : (backends)) { \
    INFO(backend.name);                                                \
    warpline::test::part(backend);                                     \
  }

// Expressions, std::vector<CommunicatorCase>. slow_cases: those that also run into deadlines.
#define WARPLINE_COMMUNICATOR_SUITE(name, cases, slow_cases)                                                 \
  TEST_CASE(name ": messages keep their order", "[communicator]"){WARPLINE_EACH_CASE(                        \
      cases, check_order)} TEST_CASE(name ": every dtype, no element at all, memory that the caller drops",  \
                                     "[communicator]"){WARPLINE_EACH_CASE(                                   \
      cases, check_dtypes_and_lifetimes)} TEST_CASE(name ": a group progresses together", "[communicator]"){ \
      WARPLINE_EACH_CASE(cases, check_groups)} TEST_CASE(name ": all_reduce equals a plain sum",             \
                                                         "[communicator]"){WARPLINE_EACH_CASE(               \
      cases, check_all_reduce)} TEST_CASE(name ": the other collectives", "[communicator]"){                 \
      WARPLINE_EACH_CASE(cases, check_other_collectives)} TEST_CASE(name                                     \
                                                                    ": traffic equals the closed forms",     \
                                                                    "[communicator]"){                       \
      WARPLINE_EACH_CASE(cases, check_traffic)} TEST_CASE(name ": split", "[communicator]"){                 \
      WARPLINE_EACH_CASE(cases, check_splits)} TEST_CASE(name ": refused calls",                             \
                                                         "[communicator]"){WARPLINE_EACH_CASE(               \
      cases, check_refusals)} TEST_CASE(name ": calls that do not match are named on both ranks",            \
                                        "[communicator]"){                                                   \
      WARPLINE_EACH_CASE(cases, check_mismatches)} TEST_CASE(name ": a deadline tells who waits for whom",   \
                                                             "[communicator]"){WARPLINE_EACH_CASE(           \
      slow_cases, check_timeouts)} TEST_CASE(name ": the first error of a rank ends all ranks",              \
                                             "[communicator]"){WARPLINE_EACH_CASE(                           \
      cases, check_failing_ranks)} TEST_CASE(name ": a rank that leaves is named by those that wait for it", \
                                             "[communicator]"){WARPLINE_EACH_CASE(                           \
      cases, check_ranks_that_leave)} TEST_CASE(name ": the same bits on every rank, every time",            \
                                                "[communicator]") {                                          \
    warpline::test::check_same_bits(cases);                                                                  \
  }
