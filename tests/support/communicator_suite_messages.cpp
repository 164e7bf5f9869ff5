// Messages and groups.
#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "tests/support/communicator_suite.h"
#include "tests/support/errors.h"

namespace warpline::test {
namespace {

using Catch::Matchers::Contains;
using parallel::Group;
using parallel::Signature;
using parallel::Work;

template <class T>
std::vector<T> ramp(std::int64_t count, T first) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(first + static_cast<T>(i));
  return values;
}

// Sends values of one dtype to the next rank and returns what came from the one before.
template <class T>
std::vector<T> around(Rank& rank, std::int64_t count) {
  const int n = rank.world->size();
  const Tensor out = rank.tensor(ramp<T>(count, static_cast<T>(rank.rank + 1)));
  const Tensor in = Tensor::empty(rank.context, out.shape(), dtype_of<T>);
  Group group(*rank.world);
  rank.world->send(out, (rank.rank + 1) % n, rank.stream());
  rank.world->recv(in, (rank.rank + n - 1) % n, rank.stream());
  group.end().wait();
  return in.to_host<T>();
}

}  // namespace

void check_order(const CommunicatorCase& backend) {
  constexpr int kRounds = 12;
  for (int n = 2; n <= 5; ++n) {
    // All ranks walk through one global order of messages; message k of (from, to) has a size and values of
    // its own.
    const auto first = [n](int k, int from, int to) { return static_cast<float>((k * n + from) * n + to); };
    const auto received = on_ranks(backend, n, [&](Rank& rank) {
      std::vector<Work> works;
      std::vector<Tensor> arrived;
      for (int k = 0; k < kRounds; ++k) {
        for (int from = 0; from < n; ++from) {
          for (int to = 0; to < n; ++to) {
            if (from == to) continue;
            const auto values = ramp<float>(1 + (k + from) % 4, first(k, from, to));
            if (rank.rank == from)
              works.push_back(rank.world->send(rank.tensor(values), to, rank.stream(), k));
            if (rank.rank != to) continue;
            arrived.push_back(Tensor::zeros(rank.context, {static_cast<std::int64_t>(values.size())}));
            works.push_back(rank.world->recv(arrived.back(), from, rank.stream(), k));
          }
        }
      }
      for (const Work& work : works) work.wait();
      std::vector<std::vector<float>> values;
      for (const Tensor& tensor : arrived) values.push_back(tensor.to_host<float>());
      return values;
    });
    for (int to = 0; to < n; ++to) {
      std::size_t next = 0;
      for (int k = 0; k < kRounds; ++k) {
        for (int from = 0; from < n; ++from) {
          if (from == to) continue;
          CHECK(received[static_cast<std::size_t>(to)][next++] ==
                ramp<float>(1 + (k + from) % 4, first(k, from, to)));
        }
      }
    }
  }
}

void check_dtypes_and_lifetimes(const CommunicatorCase& backend) {
  for (const std::int64_t count : {0, 1, 1001}) {
    constexpr int n = 3;
    const auto before = [](int r) { return (r + n - 1) % n + 1; };
    const auto floats = on_ranks(backend, n, [&](Rank& rank) { return around<float>(rank, count); });
    const auto doubles = on_ranks(backend, n, [&](Rank& rank) { return around<double>(rank, count); });
    const auto longs = on_ranks(backend, n, [&](Rank& rank) { return around<std::int64_t>(rank, count); });
    const auto ints = on_ranks(backend, n, [&](Rank& rank) { return around<std::int32_t>(rank, count); });
    const auto bytes = on_ranks(backend, n, [&](Rank& rank) { return around<std::uint8_t>(rank, count); });
    for (int r = 0; r < n; ++r) {
      const auto at = static_cast<std::size_t>(r);
      CHECK(floats[at] == ramp<float>(count, static_cast<float>(before(r))));
      CHECK(doubles[at] == ramp<double>(count, before(r)));
      CHECK(longs[at] == ramp<std::int64_t>(count, before(r)));
      CHECK(ints[at] == ramp<std::int32_t>(count, before(r)));
      CHECK(bytes[at] == ramp<std::uint8_t>(count, static_cast<std::uint8_t>(before(r))));
    }
  }

  // The sender drops its tensors at once; after a wait nobody but the caller holds the receiver's.
  struct Seen {
    std::vector<float> values;
    bool sole_owner = false;
  };
  const auto seen = on_ranks(backend, 2, [](Rank& rank) {
    Seen mine;
    if (rank.rank == 0) {
      for (int i = 0; i < 5; ++i)
        rank.world->send(rank.tensor(ramp<float>(500, 100.f * i)), 1, rank.stream());
      const Tensor last = rank.tensor(ramp<float>(500, 7));
      rank.world->send(last, 1, rank.stream()).wait();
      mine.sole_owner = last.sole_owner();
      return mine;
    }
    mine.sole_owner = true;
    for (int i = 0; i < 6; ++i) {
      const Tensor in = Tensor::zeros(rank.context, {500});
      rank.world->recv(in, 0, rank.stream()).wait();
      mine.sole_owner = mine.sole_owner && in.sole_owner();
      mine.values.push_back(in.to_host<float>()[499]);
    }
    return mine;
  });
  CHECK(seen[1].values == std::vector<float>{499, 599, 699, 799, 899, 506});
  CHECK(seen[0].sole_owner);
  CHECK(seen[1].sole_owner);
}

void check_groups(const CommunicatorCase& backend) {
  // Everybody exchanges with everybody, two messages each way, receives first on odd ranks.
  for (int n = 1; n <= 5; ++n) {
    const auto received = on_ranks(backend, n, [n](Rank& rank) {
      std::vector<Tensor> in;
      std::vector<Work> works;
      Group group(*rank.world);
      const auto send = [&](int peer) {
        for (int k = 0; k < 2; ++k) {
          const auto value = static_cast<float>(100 * rank.rank + 10 * peer + k);
          works.push_back(
              rank.world->send(rank.tensor(std::vector<float>{value, value}), peer, rank.stream()));
        }
      };
      for (int peer = 0; peer < n; ++peer) {
        if (peer == rank.rank) continue;
        if (rank.rank % 2 == 0) send(peer);
        for (int k = 0; k < 2; ++k) {
          in.push_back(Tensor::zeros(rank.context, {2}));
          works.push_back(rank.world->recv(in.back(), peer, rank.stream()));
        }
        if (rank.rank % 2 == 1) send(peer);
      }
      group.end().wait();
      std::vector<float> values;
      for (const Tensor& tensor : in) values.push_back(tensor.to_host<float>()[1]);
      for (const Work& work : works) {
        work.wait();
        if (!work.done()) values.push_back(-1);
      }
      return values;
    });
    for (int r = 0; r < n; ++r) {
      std::vector<float> expected;
      for (int peer = 0; peer < n; ++peer) {
        if (peer == r) continue;
        for (int k = 0; k < 2; ++k) expected.push_back(static_cast<float>(100 * peer + 10 * r + k));
      }
      CHECK(received[static_cast<std::size_t>(r)] == expected);
    }
  }

  // A group that is dropped sends nothing: the second message arrives, not the first.
  const auto received = on_ranks(backend, 2, [](Rank& rank) {
    const Tensor tensor = rank.tensor(std::vector<float>{rank.rank == 0 ? 5.f : 0.f});
    if (rank.rank == 0) {
      const Group dropped(*rank.world);
      rank.world->send(rank.tensor(std::vector<float>{4, 4}), 1, rank.stream());
    }
    (rank.rank == 0 ? rank.world->send(tensor, 1, rank.stream()) : rank.world->recv(tensor, 0, rank.stream()))
        .wait();
    return tensor.to_host<float>()[0];
  });
  CHECK(received[1] == 5.f);

  struct Refused {
    std::string wait, collective, nested, unopened;
    bool empty_is_done = false;
  };
  const auto refused = on_ranks(backend, 2, [](Rank& rank) {
    Refused texts;
    parallel::Communicator& world = *rank.world;
    const Tensor tensor = Tensor::zeros(rank.context, {3});
    texts.unopened = error_of<ValueError>([&] { world.group_end(); });
    texts.empty_is_done = Group(world).end().done();
    Group group(world);
    const Work work =
        rank.rank == 0 ? world.send(tensor, 1, rank.stream()) : world.recv(tensor, 0, rank.stream());
    texts.wait = error_of<ValueError>([&] { work.wait(); });
    texts.collective = error_of<ValueError>([&] { world.barrier(rank.stream()); });
    texts.nested = error_of<ValueError>([&] { world.group_begin(); });
    group.end().wait();
    return texts;
  });
  for (const Refused& texts : refused) {
    CHECK_THAT(texts.wait, Contains("end the group first"));
    CHECK_THAT(texts.collective, Contains("barrier") && Contains("end the group first"));
    CHECK_THAT(texts.nested, Contains("groups do not nest"));
    CHECK_THAT(texts.unopened, Contains("no group is open"));
    CHECK(texts.empty_is_done);
  }
}

}  // namespace warpline::test
