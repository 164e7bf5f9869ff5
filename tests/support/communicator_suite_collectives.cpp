// Collectives: their results, their bits and their traffic.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "parallel/blocks.h"
#include "tests/support/communicator_suite.h"

namespace warpline::test {
namespace {

using parallel::AllReduceAlgorithm;
using parallel::ReduceOp;
using parallel::Traffic;

constexpr AllReduceAlgorithm kAlgorithms[] = {AllReduceAlgorithm::Automatic, AllReduceAlgorithm::Ring,
                                              AllReduceAlgorithm::HalvingDoubling, AllReduceAlgorithm::Tree};
constexpr int kRankCounts[] = {1, 2, 3, 4, 5, 8};

// Integers, so that sums are exact in any order; the maximum moves from rank to rank.
template <class T>
T value(int rank, std::int64_t i) {
  return static_cast<T>((rank * 37 + i * 11) % 101 - 50);
}

template <class T>
std::vector<T> values(int rank, std::int64_t count) {
  std::vector<T> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(value<T>(rank, i));
  return all;
}

template <class T>
std::vector<T> reduced(int ranks, std::int64_t count, ReduceOp op) {
  std::vector<T> result = values<T>(0, count);
  for (int r = 1; r < ranks; ++r) {
    for (std::int64_t i = 0; i < count; ++i) {
      T& at = result[static_cast<std::size_t>(i)];
      at = op == ReduceOp::Sum ? at + value<T>(r, i) : std::max(at, value<T>(r, i));
    }
  }
  return result;
}

template <class T>
void sweep_all_reduce(const CommunicatorCase& backend, const std::vector<int>& rank_counts,
                      const std::vector<std::int64_t>& counts) {
  for (const int n : rank_counts) {
    for (const AllReduceAlgorithm algorithm : kAlgorithms) {
      const auto results = on_ranks(backend, n,
                                    [&](Rank& rank) {
                                      std::vector<std::vector<T>> mine;
                                      for (const ReduceOp op : {ReduceOp::Sum, ReduceOp::Max}) {
                                        for (const std::int64_t count : counts) {
                                          const Tensor tensor = rank.tensor(values<T>(rank.rank, count));
                                          rank.world->all_reduce(tensor, op, rank.stream()).wait();
                                          mine.push_back(tensor.to_host<T>());
                                        }
                                      }
                                      return mine;
                                    },
                                    {.all_reduce = algorithm});
      INFO(n << " ranks, " << to_string(algorithm) << ", " << to_string(dtype_of<T>));
      for (const auto& mine : results) {
        std::size_t next = 0;
        for (const ReduceOp op : {ReduceOp::Sum, ReduceOp::Max}) {
          for (const std::int64_t count : counts) CHECK(mine[next++] == reduced<T>(n, count, op));
        }
      }
    }
  }
}

// Sent by each rank in one call.
template <class Call>
std::vector<Traffic> traffic_of(const CommunicatorCase& backend, int ranks, AllReduceAlgorithm algorithm,
                                Call call) {
  return on_ranks(backend, ranks,
                  [&](Rank& rank) {
                    call(rank).wait();
                    return rank.world->traffic();
                  },
                  {.all_reduce = algorithm});
}

Traffic total(const std::vector<Traffic>& ranks) {
  Traffic sum;
  for (const Traffic& traffic : ranks) sum += traffic;
  return sum;
}

int log2_up(int n) {
  int log = 0;
  while ((1 << log) < n) ++log;
  return log;
}

}  // namespace

void check_all_reduce(const CommunicatorCase& backend) {
  sweep_all_reduce<float>(backend, {std::begin(kRankCounts), std::end(kRankCounts)}, {0, 1, 2, 7, 64, 1001});
  sweep_all_reduce<double>(backend, {3, 4}, {0, 1001});
  sweep_all_reduce<std::int64_t>(backend, {3, 4}, {0, 1001});

  // Large enough for the ring to be the automatic choice; several in flight.
  const std::int64_t count = 40'003;
  const auto results = on_ranks(backend, 3, [&](Rank& rank) {
    std::vector<Tensor> tensors;
    std::vector<parallel::Work> works;
    for (int k = 0; k < 4; ++k) {
      tensors.push_back(rank.tensor(values<float>(rank.rank + k, count)));
      works.push_back(rank.world->all_reduce(tensors.back(), ReduceOp::Sum, rank.stream()));
    }
    works.back().wait();  // a FIFO: the others are done as well
    std::vector<std::vector<float>> mine;
    for (const Tensor& tensor : tensors) mine.push_back(tensor.to_host<float>());
    return mine;
  });
  for (const auto& mine : results) {
    for (int k = 0; k < 4; ++k) {
      std::vector<float> expected = values<float>(k, count);
      for (int r = 1; r < 3; ++r) {
        for (std::int64_t i = 0; i < count; ++i) {
          expected[static_cast<std::size_t>(i)] += value<float>(r + k, i);
        }
      }
      CHECK(mine[static_cast<std::size_t>(k)] == expected);
    }
  }

  // NaN wins a maximum, on whichever rank it is.
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (int where = 0; where < 3; ++where) {
    const auto maxima = on_ranks(backend, 3, [&](Rank& rank) {
      const Tensor tensor = rank.tensor(std::vector<float>{rank.rank == where ? nan : 1.f, 2.f});
      rank.world->all_reduce(tensor, ReduceOp::Max, rank.stream()).wait();
      return tensor.to_host<float>();
    });
    for (const auto& mine : maxima) {
      CHECK(mine[0] != mine[0]);
      CHECK(mine[1] == 2.f);
    }
  }
}

void check_other_collectives(const CommunicatorCase& backend) {
  for (const int n : kRankCounts) {
    for (const std::int64_t count : {0, 1, 5, 300}) {
      INFO(n << " ranks, " << count << " elements");
      struct Results {
        std::vector<float> scattered, gathered, in_place, kept;
        std::vector<std::vector<std::int64_t>> broadcast;  // by root
      };
      const auto results = on_ranks(backend, n, [&](Rank& rank) {
        Results mine;
        const Tensor input = rank.tensor(values<float>(rank.rank, count * n));
        const Tensor output = Tensor::zeros(rank.context, {count});
        rank.world->reduce_scatter(input, output, ReduceOp::Sum, rank.stream()).wait();
        mine.scattered = output.to_host<float>();
        mine.kept = input.to_host<float>();

        const Tensor all = Tensor::zeros(rank.context, {n, count});
        rank.world->all_gather(output, all, rank.stream()).wait();
        mine.gathered = all.to_host<float>();
        // The same with the input in its place, beside rubbish.
        std::vector<float> rubbish(static_cast<std::size_t>(n * count), -1.f);
        std::copy(mine.scattered.begin(), mine.scattered.end(), rubbish.begin() + rank.rank * count);
        const Tensor again = rank.tensor(rubbish);
        rank.world->all_gather(Tensor::view_of(again, rank.rank * count, {count}), again, rank.stream())
            .wait();
        mine.in_place = again.to_host<float>();

        for (int root = 0; root < n; ++root) {
          const Tensor tensor = rank.tensor(values<std::int64_t>(rank.rank, count));
          rank.world->broadcast(tensor, root, rank.stream()).wait();
          mine.broadcast.push_back(tensor.to_host<std::int64_t>());
        }
        return mine;
      });
      const std::vector<float> sum = reduced<float>(n, count * n, ReduceOp::Sum);
      for (int r = 0; r < n; ++r) {
        const Results& mine = results[static_cast<std::size_t>(r)];
        CHECK(mine.scattered == std::vector<float>(sum.begin() + r * count, sum.begin() + (r + 1) * count));
        CHECK(mine.kept == values<float>(r, count * n));
        CHECK(mine.gathered == sum);
        CHECK(mine.in_place == sum);
        for (int root = 0; root < n; ++root) {
          CHECK(mine.broadcast[static_cast<std::size_t>(root)] == values<std::int64_t>(root, count));
        }
      }
    }

    // Nobody leaves a barrier before all have come.
    std::atomic<int> arrived{0};
    const auto seen = on_ranks(backend, n, [&](Rank& rank) {
      std::vector<int> mine;
      for (int round = 1; round <= 3; ++round) {
        arrived.fetch_add(1);
        rank.world->barrier(rank.stream()).wait();
        mine.push_back(arrived.load() >= round * n ? 1 : 0);
      }
      return mine;
    });
    for (const auto& mine : seen) CHECK(mine == std::vector{1, 1, 1});
  }
}

void check_traffic(const CommunicatorCase& backend) {
  for (const int n : kRankCounts) {
    for (const std::int64_t count : {std::int64_t{120}, std::int64_t{7}}) {
      const std::int64_t bytes = 4 * count;
      const auto chunk = [&](int c) { return 4 * parallel::part(count, n, c % n).size(); };
      const auto all_reduce = [&](AllReduceAlgorithm algorithm) {
        return traffic_of(backend, n, algorithm, [&](Rank& rank) {
          return rank.world->all_reduce(Tensor::zeros(rank.context, {count}), ReduceOp::Sum, rank.stream());
        });
      };
      INFO(n << " ranks, " << count << " elements");
      const auto ring = all_reduce(AllReduceAlgorithm::Ring);
      for (int r = 0; r < n; ++r) {
        const Traffic& mine = ring[static_cast<std::size_t>(r)];
        // All chunks but one, twice: 2 (N-1)/N S where they are equal.
        CHECK(mine.bytes_sent == (n == 1 ? 0 : 2 * bytes - chunk(r) - chunk(r + 1)));
        if (count % n == 0) CHECK(mine.bytes_sent == 2 * (n - 1) * bytes / n);
        CHECK(mine.messages_sent == 2 * (n - 1));
        CHECK(mine.messages_received == 2 * (n - 1));
      }
      CHECK(total(ring).bytes_received == 2 * (n - 1) * bytes);

      const auto halving = all_reduce(AllReduceAlgorithm::HalvingDoubling);
      CHECK(total(halving).bytes_sent == 2 * (n - 1) * bytes);
      if ((n & (n - 1)) == 0) {
        for (const Traffic& mine : halving) CHECK(mine.messages_sent == 2 * log2_up(n));
      } else {
        CHECK(halving == ring);
      }

      const auto tree = all_reduce(AllReduceAlgorithm::Tree);
      CHECK(total(tree).bytes_sent == 2 * (n - 1) * bytes);
      CHECK(total(tree).messages_sent == 2 * (n - 1));
      CHECK(tree.back().messages_sent <= 1 + log2_up(n));

      const auto broadcast = traffic_of(backend, n, AllReduceAlgorithm::Automatic, [&](Rank& rank) {
        return rank.world->broadcast(Tensor::zeros(rank.context, {count}), n - 1, rank.stream());
      });
      CHECK(total(broadcast).bytes_sent == (n - 1) * bytes);
      CHECK(broadcast.back().messages_sent == log2_up(n));

      for (const bool gather : {true, false}) {
        const auto half = traffic_of(backend, n, AllReduceAlgorithm::Automatic, [&](Rank& rank) {
          const Tensor small = Tensor::zeros(rank.context, {count});
          const Tensor large = Tensor::zeros(rank.context, {n, count});
          return gather ? rank.world->all_gather(small, large, rank.stream())
                        : rank.world->reduce_scatter(large, small, ReduceOp::Sum, rank.stream());
        });
        for (const Traffic& mine : half)
          CHECK(mine == Traffic{(n - 1) * bytes, (n - 1) * bytes, n - 1, n - 1});
      }
    }
    for (const Traffic& mine : traffic_of(backend, n, AllReduceAlgorithm::Automatic,
                                          [](Rank& rank) { return rank.world->barrier(rank.stream()); })) {
      CHECK(mine == Traffic{0, 0, log2_up(n), log2_up(n)});
    }
  }
}

void check_same_bits(const std::vector<CommunicatorCase>& backends) {
  int compared = 0;
  for (const int n : {2, 3, 4, 5}) {
    for (const AllReduceAlgorithm algorithm : kAlgorithms) {
      std::vector<std::uint32_t> first;
      for (const CommunicatorCase& backend : backends) {
        const auto results = on_ranks(backend, n,
                                      [](Rank& rank) {
                                        std::mt19937 random(static_cast<unsigned>(rank.rank + 1));
                                        std::normal_distribution<float> normal(0, 1);
                                        std::vector<float> mine(1003);
                                        for (float& x : mine)
                                          x = normal(random) * (random() % 50 == 0 ? 1e4f : 1.f);
                                        const Tensor tensor = rank.tensor(mine);
                                        rank.world->all_reduce(tensor, ReduceOp::Sum, rank.stream()).wait();
                                        mine = tensor.to_host<float>();
                                        std::vector<std::uint32_t> bits(mine.size());
                                        std::memcpy(bits.data(), mine.data(), mine.size() * sizeof(float));
                                        return bits;
                                      },
                                      {.all_reduce = algorithm});
        for (const auto& bits : results) {
          if (first.empty()) first = bits;
          INFO(backend.name << ", " << n << " ranks, " << to_string(algorithm));
          CHECK(bits == first);
          ++compared;
        }
      }
    }
  }
  fmt::print("same bits: {} results of {} cases compared\n", compared, backends.size());
}

}  // namespace warpline::test
