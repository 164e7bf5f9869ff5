// What goes wrong: calls that differ, waits without end, ranks that throw or leave. Nobody hangs, and the
// message names who.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <thread>

#include <catch2/catch.hpp>
#include <cxxabi.h>
#include <fmt/core.h>

#include "tests/support/communicator_suite.h"

namespace warpline::test {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using parallel::Communicator;
using parallel::Group;
using parallel::PeerError;
using parallel::ReduceOp;
using parallel::TimeoutError;

// Long enough that an end before it is none by deadline, on a busy machine as well.
constexpr RunSettings kPatient{.timeout_seconds = 60};
constexpr double kPrompt = 5;  // seconds
constexpr RunSettings kImpatient{.timeout_seconds = 0.6};

std::string type_name(const std::exception& error) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(typeid(error).name(), nullptr, nullptr, &status), &std::free);
  const std::string full = name ? name.get() : typeid(error).name();
  return full.substr(full.rfind(':') + 1);
}

template <class Call>
Ending ending_of(const Call& call, std::chrono::steady_clock::time_point start) {
  Ending ending;
  const auto end = [&](std::string type, std::string text) {
    ending = {std::move(type), std::move(text),
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  };
  try {
    call();
    end("", "");
  } catch (const std::exception& error) {
    end(type_name(error), error.what());
  }
  return ending;
}

Tensor tensor_of(Rank& rank, std::int64_t count, DType dtype = DType::Float32) {
  return Tensor::zeros(rank.context, {count}, dtype);
}

// One pair of calls that do not fit, on ranks 0 and 1.
struct Mismatch {
  const char* what;
  RankBody rank_0, rank_1;
  const char *text_0, *text_1;  // both in the error
};

std::vector<Mismatch> mismatches() {
  using Op = ReduceOp;
  const auto send = [](std::int64_t count, DType dtype, int tag) {
    return [=](Rank& r) { r.world->send(tensor_of(r, count, dtype), 1, r.stream(), tag).wait(); };
  };
  const auto recv = [](std::int64_t count, DType dtype, int tag) {
    return [=](Rank& r) { r.world->recv(tensor_of(r, count, dtype), 0, r.stream(), tag).wait(); };
  };
  const auto all_reduce = [](std::int64_t count, DType dtype, Op op) {
    return [=](Rank& r) { r.world->all_reduce(tensor_of(r, count, dtype), op, r.stream()).wait(); };
  };
  const auto broadcast = [](int root) {
    return [=](Rank& r) { r.world->broadcast(tensor_of(r, 5), root, r.stream()).wait(); };
  };
  const RankBody barrier = [](Rank& r) { r.world->barrier(r.stream()).wait(); };
  const auto then = [](const RankBody& first, const RankBody& second) {
    return [=](Rank& r) {
      first(r);
      second(r);
    };
  };
  const DType f32 = DType::Float32;
  const RankBody sum5 = all_reduce(5, f32, Op::Sum);
  const RankBody gather = [](Rank& r) {
    r.world->all_gather(tensor_of(r, 5), tensor_of(r, 10), r.stream()).wait();
  };
  const RankBody scatter = [](Rank& r) {
    r.world->reduce_scatter(tensor_of(r, 10), tensor_of(r, 5), Op::Sum, r.stream()).wait();
  };
  const RankBody split = [](Rank& r) { r.world->split(0, 0, "child"); };
  return {
      {"count", send(5, f32, 3), recv(6, f32, 3), "send 5 x float32", "recv 6 x float32"},
      {"nothing", send(0, f32, 3), recv(6, f32, 3), "send 0 x float32", "count 0 against 6"},
      {"dtype", send(5, f32, 3), recv(5, DType::Int32, 3), "5 x float32", "5 x int32"},
      {"tag", send(5, f32, 3), recv(5, f32, 4), "tag 3", "tag 4"},
      {"order of messages", then(send(5, f32, 0), send(5, f32, 1)), then(recv(5, f32, 1), recv(5, f32, 0)),
       "tag 0", "tag 1"},
      {"message against collective", send(5, f32, -1), sum5, "all_reduce sum 5 x float32",
       "against all_reduce"},
      {"collective count", sum5, all_reduce(6, f32, Op::Sum), "sum 5 x float32", "sum 6 x float32"},
      {"collective dtype", sum5, all_reduce(5, DType::Float64, Op::Sum), "5 x float32", "5 x float64"},
      {"operation", sum5, all_reduce(5, f32, Op::Max), "sum 5", "max 5"},
      {"root", broadcast(0), broadcast(1), "from root 0", "from root 1"},
      {"kind", sum5, broadcast(0), "all_reduce", "broadcast"},
      {"kind", barrier, gather, "barrier", "all_gather"},
      {"kind", scatter, gather, "reduce_scatter", "all_gather"},
      {"kind", split, barrier, "split", "barrier"},
      {"order of collectives", then(sum5, broadcast(0)), then(broadcast(0), sum5), "all_reduce", "broadcast"},
      {"second call", then(barrier, sum5), then(barrier, broadcast(0)), "#1 all_reduce", "#1 broadcast"},
  };
}

}  // namespace

Endings endings(const CommunicatorCase& backend, int ranks, const RankBody& body,
                const RunSettings& settings) {
  const Watchdog watchdog(120);
  Endings all;
  all.ranks.resize(static_cast<std::size_t>(ranks));
  const auto start = std::chrono::steady_clock::now();
  all.run = ending_of(
      [&] {
        backend.run(ranks, settings, [&](Rank& rank) {
          std::exception_ptr error;
          all.ranks[static_cast<std::size_t>(rank.rank)] = ending_of(
              [&] {
                try {
                  body(rank);
                } catch (...) {
                  error = std::current_exception();
                  throw;
                }
              },
              start);
          if (error) std::rethrow_exception(error);
        });
      },
      start);
  return all;
}

void check_mismatches(const CommunicatorCase& backend) {
  for (const Mismatch& mismatch : mismatches()) {
    INFO(mismatch.what << ": " << mismatch.text_0 << ", " << mismatch.text_1);
    // A buffered sender may have ended well before its partner calls: it waits for something more.
    const Endings ends = endings(
        backend, 2,
        [&](Rank& rank) {
          (rank.rank == 0 ? mismatch.rank_0 : mismatch.rank_1)(rank);
          rank.world->barrier(rank.stream()).wait();
        },
        kPatient);
    CHECK(ends.run.type == "MismatchError");
    for (const Ending& rank : ends.ranks) {
      CHECK(rank.type == "MismatchError");
      CHECK_THAT(rank.text, Contains("rank 0") && Contains("rank 1") && Contains(mismatch.text_0) &&
                                Contains(mismatch.text_1));
      CHECK(rank.seconds < kPatient.timeout_seconds);
    }
  }
  // Ranks that are not part of it are told which ranks are.
  const Endings ends = endings(
      backend, 3,
      [](Rank& rank) {
        if (rank.rank == 2) rank.world->barrier(rank.stream()).wait();
        if (rank.rank == 0) rank.world->send(tensor_of(rank, 5), 1, rank.stream()).wait();
        if (rank.rank == 1) rank.world->recv(tensor_of(rank, 6), 0, rank.stream()).wait();
        rank.world->barrier(rank.stream()).wait();
      },
      kPatient);
  CHECK(ends.ranks[2].type == "PeerError");
  CHECK_THAT(ends.ranks[2].text, Contains("failed first") && Contains("rank 0") && Contains("rank 1"));
}

void check_timeouts(const CommunicatorCase& backend) {
  // Rank 1 makes no call until rank 0 has given up; rank 2 waits for rank 0 on another communicator.
  std::atomic<bool> given_up{false};
  const Endings late = endings(
      backend, 3,
      [&](Rank& rank) {
        const auto pair = rank.world->split(rank.rank == 1 ? -1 : 0, 0, "pair");
        rank.world->barrier(rank.stream()).wait();
        if (rank.rank == 0) {
          const auto give_up = [&] { given_up = true; };
          try {
            rank.world->recv(tensor_of(rank, 3), 1, rank.stream(), 7).wait();
          } catch (...) {
            give_up();
            throw;
          }
        }
        if (rank.rank == 2) {
          // Not the first to run into the deadline.
          while (!given_up) std::this_thread::sleep_for(std::chrono::milliseconds(5));
          pair->barrier(rank.stream()).wait();
        }
        while (!given_up) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        rank.world->barrier(rank.stream()).wait();
      },
      kImpatient);
  CHECK(late.run.type == "TimeoutError");
  CHECK(late.ranks[0].type == "TimeoutError");
  CHECK(late.ranks[1].type == "PeerError");
  CHECK(late.ranks[2].type == "PeerError");
  CHECK_THAT(late.run.text, StartsWith("rank 0: "));
  CHECK_THAT(late.run.text, Contains("rank 0 waited 0.6 s for #2 recv 3 x float32 from rank 1, tag 7"));
  CHECK_THAT(late.run.text, Contains("rank 0 waits for rank 1 to send"));
  CHECK_THAT(late.run.text, Contains("lagging: rank 1"));
  CHECK_THAT(late.run.text, Contains("rank 1 makes no call (last completed: #1 barrier)"));
  CHECK_THAT(late.run.text, !Contains("rank 1 waits for rank 0"));

  // Everybody receives first: no one lags, it is a cycle.
  const Endings cycle = endings(
      backend, 3,
      [](Rank& rank) {
        rank.world->recv(tensor_of(rank, 2), (rank.rank + 1) % 3, rank.stream()).wait();
        rank.world->send(tensor_of(rank, 2), (rank.rank + 2) % 3, rank.stream()).wait();
      },
      kImpatient);
  CHECK(cycle.run.type == "TimeoutError");
  CHECK_THAT(cycle.run.text, Contains("rank 0 waits for rank 1 to send") &&
                                 Contains("rank 1 waits for rank 2 to send") &&
                                 Contains("rank 2 waits for rank 0 to send") && Contains("0 -> 1 -> 2 -> 0"));
  int timed_out = 0;
  for (const Ending& rank : cycle.ranks) timed_out += rank.type == "TimeoutError" ? 1 : 0;
  CHECK(timed_out == 1);  // the first error wins

  // One rank is missing from a collective, on a communicator of other numbering.
  const Endings missing = endings(
      backend, 4,
      [](Rank& rank) {
        const auto half = rank.world->split(rank.rank / 2, -rank.rank, fmt::format("half {}", rank.rank / 2));
        if (rank.rank != 2) half->all_reduce(tensor_of(rank, 9), ReduceOp::Sum, rank.stream()).wait();
        rank.world->barrier(rank.stream()).wait();
      },
      kImpatient);
  CHECK(missing.run.type == "TimeoutError");
  CHECK_THAT(missing.run.text, Contains("#0 all_reduce sum 9 x float32"));
  CHECK_THAT(missing.run.text,
             Contains("rank 0 of half 1 (rank 3 of the run) waits for rank 1 of half 1 (rank 2 "
                      "of the run)"));

  // An exchange without a group runs where sends are buffered, and hangs where they wait.
  const RankBody exchange = [](Rank& rank) {
    const parallel::Work sent = rank.world->send(tensor_of(rank, 4), 1 - rank.rank, rank.stream());
    rank.world->recv(tensor_of(rank, 4), 1 - rank.rank, rank.stream()).wait();
    sent.wait();
  };
  const Endings bad = endings(backend, 2, exchange, backend.sends_wait ? kImpatient : kPatient);
  if (backend.sends_wait) {
    CHECK(bad.run.type == "TimeoutError");
    CHECK_THAT(bad.run.text,
               Contains("rank 0 waits for rank 1 to receive in #0 send 4 x float32 to rank 1") &&
                   Contains("rank 1 waits for rank 0 to receive in #0 send 4 x float32 to rank 0") &&
                   Contains("0 -> 1 -> 0"));
  } else {
    CHECK(bad.run.text == "");
  }
}

void check_failing_ranks(const CommunicatorCase& backend) {
  struct Case {
    std::string type;
    std::function<void()> raise;
  };
  const std::vector<Case> cases{
      {"ValueError", [] { fail<ValueError>("test", "boom"); }},
      {"ShapeError", [] { fail<ShapeError>("test", "boom"); }},
      {"FileError", [] { fail<FileError>("test", "boom"); }},
      {"TimeoutError", [] { fail<TimeoutError>("test", "boom"); }},
      {"Failure", [] { throw std::runtime_error("boom"); }},
      {"Failure", [] { throw std::bad_alloc(); }},
  };
  for (const Case& one : cases) {
    INFO(one.type);
    const Endings ends = endings(
        backend, 4,
        [&](Rank& rank) {
          const auto odd = rank.world->split(rank.rank % 2, 0, "parity");
          rank.world->barrier(rank.stream()).wait();
          if (rank.rank == 2) {
            rank.world->recv(tensor_of(rank, 5), 1, rank.stream());  // never answered, dropped
            one.raise();
          }
          if (rank.rank == 3) odd->recv(tensor_of(rank, 1), 0, rank.stream()).wait();
          if (rank.rank == 0) odd->barrier(rank.stream()).wait();
          rank.world->all_reduce(tensor_of(rank, 5), ReduceOp::Sum, rank.stream()).wait();
        },
        kPatient);
    CHECK(ends.run.type == one.type);
    CHECK_THAT(ends.run.text, StartsWith("rank 2: "));
    CHECK(ends.run.seconds < kPrompt);
    for (const int r : {0, 1, 3}) {
      CHECK(ends.ranks[static_cast<std::size_t>(r)].type == "PeerError");
      CHECK_THAT(ends.ranks[static_cast<std::size_t>(r)].text, Contains("rank 2 failed first"));
    }
  }

  // From another thread, which belongs to no rank.
  const Endings aborted = endings(
      backend, 3,
      [](Rank& rank) {
        std::thread other;
        if (rank.rank == 1) {
          other = std::thread([world = rank.world] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            world->abort(std::make_exception_ptr(ValueError("[test] stop")));
          });
        }
        struct Join {
          std::thread& thread;
          ~Join() {
            if (thread.joinable()) thread.join();
          }
        } join{other};
        rank.world->recv(tensor_of(rank, 1), (rank.rank + 1) % 3, rank.stream()).wait();
      },
      kPatient);
  CHECK(aborted.run.type == "ValueError");
  CHECK(aborted.run.text == "rank 1: [test] stop");
  CHECK(aborted.run.seconds < kPrompt);
  CHECK(aborted.ranks[1].type == "ValueError");
  CHECK(aborted.ranks[0].type == "PeerError");
  CHECK_THAT(aborted.ranks[2].text, Contains("rank 1 failed first: [test] stop"));

  // Calls that nobody waits for, and those made later, do not start again after an error.
  const Endings later = endings(
      backend, 2,
      [](Rank& rank) {
        if (rank.rank == 0) fail<ValueError>("test", "boom");
        try {
          rank.world->barrier(rank.stream()).wait();
        } catch (const PeerError&) {
          rank.world->barrier(rank.stream());
        }
      },
      kPatient);
  CHECK(later.run.text == "rank 0: [test] boom");
  CHECK(later.ranks[1].type == "PeerError");
}

void check_ranks_that_leave(const CommunicatorCase& backend) {
  const Endings receiver = endings(
      backend, 3,
      [](Rank& rank) {
        rank.world->barrier(rank.stream()).wait();
        if (rank.rank == 0) rank.world->recv(tensor_of(rank, 3), 1, rank.stream()).wait();
        if (rank.rank == 2) rank.world->recv(tensor_of(rank, 3), 0, rank.stream()).wait();
      },
      kPatient);
  CHECK(receiver.run.type == "PeerError");
  CHECK(receiver.run.seconds < kPrompt);
  CHECK_THAT(receiver.run.text, StartsWith("rank 0: ") &&
                                    Contains("waits in #1 recv 3 x float32 from rank 1") &&
                                    Contains("rank 1, which has ended (last completed: #0 barrier)"));

  // What was sent before the sender left arrives.
  const auto received = on_ranks(backend, 2, [](Rank& rank) {
    const Tensor tensor = Tensor::full(rank.context, {2}, rank.rank == 0 ? 8 : 0);
    if (rank.rank == 0) {
      rank.world->send(tensor, 1, rank.stream());
      return 8.f;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    rank.world->recv(tensor, 0, rank.stream()).wait();
    return tensor.to_host<float>()[1];
  });
  CHECK(received[1] == 8.f);

  // A communicator dropped by one rank only.
  const Endings dropped = endings(
      backend, 2,
      [](Rank& rank) {
        auto child = rank.world->split(0, 0, "child");
        if (rank.rank == 1) child.reset();
        if (rank.rank == 0) child->barrier(rank.stream()).wait();
        rank.world->barrier(rank.stream()).wait();
      },
      kPatient);
  CHECK(dropped.run.type == "PeerError");
  CHECK(dropped.run.seconds < kPrompt);
  CHECK_THAT(dropped.run.text, Contains("rank 1 of child (rank 1 of the run), which has ended"));

  // A rank that ends while its own last call has no partner.
  const Endings alone = endings(
      backend, 2,
      [](Rank& rank) {
        rank.world->barrier(rank.stream()).wait();
        if (rank.rank == 0) rank.world->recv(tensor_of(rank, 3), 1, rank.stream());
      },
      kPatient);
  CHECK(alone.run.type == "PeerError");
  CHECK(alone.run.seconds < kPrompt);
}

}  // namespace warpline::test
