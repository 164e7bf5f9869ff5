// Ranks as threads: the suite in all send modes and orders, and what `local` alone promises.
#include "parallel/local.h"

#include <chrono>
#include <functional>
#include <future>
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "tests/support/communicator_suite.h"
#include "tests/support/errors.h"
#include "tests/support/options.h"

using namespace warpline;
using namespace warpline::parallel;
using namespace warpline::test;
using Catch::Matchers::Contains;

namespace {

const Offers offers{true, false};

CommunicatorCase local_case(LocalOptions options, DeviceKind kind = DeviceKind::Ref) {
  const char* const modes[] = {"rendezvous", "bounded", "buffered"};
  const auto run = [options, kind](int ranks, const RunSettings& settings, const RankBody& body) {
    LocalOptions all = options;
    all.timeout_seconds = settings.timeout_seconds;
    all.all_reduce = settings.all_reduce;
    std::vector<std::shared_ptr<Context>> contexts;
    for (int r = 0; r < ranks; ++r) contexts.push_back(std::make_shared<Context>(Device{kind, r}));
    run_local(contexts, all, [&](int r, std::shared_ptr<Communicator> world) {
      Rank rank{r, *contexts[static_cast<std::size_t>(r)], std::move(world)};
      body(rank);
    });
  };
  return {fmt::format("local, {}, {} buffers, order seed {}", modes[static_cast<int>(options.send_mode)],
                      options.buffers, options.order_seed),
          options.send_mode == SendMode::Rendezvous, run};
}

std::vector<CommunicatorCase> cases() {
  std::vector<CommunicatorCase> all;
  for (const std::uint64_t seed : {0, 1, 2}) {
    for (const SendMode mode : {SendMode::Rendezvous, SendMode::Bounded, SendMode::Buffered}) {
      all.push_back(local_case({.send_mode = mode, .order_seed = seed}));
    }
  }
  all.push_back(local_case({.send_mode = SendMode::Bounded, .buffers = 1}));
  return all;
}

std::vector<CommunicatorCase> slow_cases() {
  return {local_case({.send_mode = SendMode::Rendezvous}), local_case({.send_mode = SendMode::Bounded})};
}

double seconds_of(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

WARPLINE_COMMUNICATOR_SUITE("local", cases(), slow_cases())

TEST_CASE("local: one rank's error has no prefix, options out of range are refused", "[communicator]") {
  const auto one = std::vector{std::make_shared<Context>(Device{DeviceKind::Ref})};
  CHECK(error_of<ShapeError>([&] {
          run_local(one, {},
                    [](int, const std::shared_ptr<Communicator>&) { fail<ShapeError>("t", "boom"); });
        }) == "[t] boom");
  const auto body = [](int, const std::shared_ptr<Communicator>&) {};
  CHECK_THAT(error_of<ValueError>([&] { run_local({}, {}, body); }), Contains("at least one rank"));
  CHECK_THAT(error_of<ValueError>([&] { run_local(one, {.buffers = 0}, body); }), Contains("0 buffers"));
  CHECK_THAT(error_of<ValueError>([&] { run_local(one, {.timeout_seconds = 0}, body); }),
             Contains("timeout"));
  CHECK_THAT(error_of<ValueError>([&] { run_local(one, {.message_delay_seconds = -1}, body); }),
             Contains("delay"));
}

TEST_CASE("local: a bounded sender runs ahead by as many messages as there are buffers", "[communicator]") {
  for (const int buffers : {1, 3}) {
    const CommunicatorCase backend = local_case({.buffers = buffers});
    // Rank 1 receives only once rank 0 has seen how far it got.
    std::promise<void> looked;
    const std::shared_future<void> go = looked.get_future().share();
    const auto ahead = on_ranks(backend, 2, [&](Rank& rank) {
      const Tensor tensor = Tensor::zeros(rank.context, {4});
      std::vector<Work> works;
      bool last_done = false;
      if (rank.rank == 1) go.wait();
      for (int k = 0; k <= buffers; ++k) {
        works.push_back(rank.rank == 0 ? rank.world->send(tensor, 1, rank.stream())
                                       : rank.world->recv(tensor, 0, rank.stream()));
      }
      if (rank.rank == 0) {
        works[works.size() - 2].wait();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        last_done = works.back().done();
        looked.set_value();
      }
      works.back().wait();
      return last_done ? 1 : 0;
    });
    CHECK(ahead[0] == 0);
  }
}

TEST_CASE("local: a delay holds messages up, one after another, and never the caller", "[communicator]") {
  const double delay = 0.05;
  for (const SendMode mode : {SendMode::Rendezvous, SendMode::Bounded, SendMode::Buffered}) {
    const CommunicatorCase backend = local_case({.send_mode = mode, .message_delay_seconds = delay});
    struct Seen {
      bool ran_ahead = false;
      std::vector<float> values;
    };
    std::vector<Seen> seen;
    const double seconds = seconds_of([&] {
      seen = on_ranks(backend, 2, [](Rank& rank) {
        Seen mine;
        std::vector<Tensor> tensors;
        std::vector<Work> works;
        for (int k = 0; k < 5; ++k) {
          tensors.push_back(Tensor::full(rank.context, {2}, rank.rank == 0 ? k : -1));
          works.push_back(rank.rank == 0 ? rank.world->send(tensors.back(), 1, rank.stream())
                                         : rank.world->recv(tensors.back(), 0, rank.stream()));
        }
        mine.ran_ahead = !works.back().done();
        for (const Work& work : works) work.wait();
        for (const Tensor& tensor : tensors) mine.values.push_back(tensor.to_host<float>()[0]);
        return mine;
      });
    });
    CHECK(seconds >= 5 * delay);
    CHECK(seen[1].ran_ahead);
    CHECK(seen[1].values == std::vector<float>{0, 1, 2, 3, 4});
  }
}

TEST_CASE("local: an observer sees each call of its rank and communicator", "[communicator]") {
  struct Recorder final : CallObserver {
    void call_done(const Signature& call, std::int64_t start_us, std::int64_t end_us) override {
      calls.push_back(to_string(call));
      in_order = in_order && start_us <= end_us && last_end <= end_us;
      last_end = end_us;
    }
    std::vector<std::string> calls;  // written on the communication thread, read after a wait
    bool in_order = true;
    std::int64_t last_end = 0;
  };
  const auto calls = on_ranks(local_case({}), 2, [](Rank& rank) {
    const auto recorder = std::make_shared<Recorder>();
    rank.world->observe(recorder);
    const Tensor a = Tensor::zeros(rank.context, {3}), b = Tensor::zeros(rank.context, {3});
    rank.world->all_reduce(a, ReduceOp::Sum, rank.stream());
    Group group(*rank.world);
    rank.world->send(a, 1 - rank.rank, rank.stream(), 4);
    rank.world->recv(b, 1 - rank.rank, rank.stream(), 4);
    group.end().wait();
    rank.world->observe(nullptr);
    rank.world->barrier(rank.stream()).wait();
    if (!recorder->in_order) recorder->calls.emplace_back("out of order");
    return recorder->calls;
  });
  CHECK(calls[1] == std::vector<std::string>{"#0 all_reduce sum 3 x float32",
                                             "#1 send 3 x float32 to rank 0, tag 4",
                                             "#2 recv 3 x float32 from rank 0, tag 4"});
}

TEST_CASE("local: reductions on every device that it serves", "[communicator]") {
  for (const DeviceKind kind : device_kinds()) {
    if (kind == DeviceKind::Cuda) continue;  // which it does not serve
    INFO(to_string(kind));
    check_all_reduce(local_case({}, kind));
  }
}
