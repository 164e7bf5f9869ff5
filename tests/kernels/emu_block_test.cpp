// One block of the emulator: threads take turns in seeded orders, meet at barriers and in warps, and what
// CUDA leaves undefined is an error that names threads and lines.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "kernels/emu/block.h"
#include "kernels/emu/cuda.h"
#include "kernels/emu/order.h"
#include "kernels/emu/warp.h"

using namespace warpline;
using namespace warpline::emu;
using Catch::Matchers::Contains;

namespace {

constexpr std::uint64_t kSeeds = 20;

template <class Body>
void run(dim3 grid, dim3 block, std::uint64_t seed, Body body) {
  Block runner;
  const Launch launch{"test", grid, block, 0, seed, body};
  for (unsigned x = 0; x < grid.x; ++x) runner.run(launch, {x, 0, 0});
}

template <class Body>
std::string error_of(dim3 block, Body body, std::uint64_t seed = 0) {
  try {
    run({1}, block, seed, body);
  } catch (const KernelError& error) {
    return error.what();
  }
  return "";
}

unsigned lane_of_thread() { return threadIdx.x % 32; }

}  // namespace

TEST_CASE("an order is a permutation, and each seed has its own", "[emu]") {
  for (const std::size_t count : {1U, 2U, 31U, 32U, 33U, 100U, 1024U}) {
    std::set<std::vector<std::uint32_t>> different;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      std::vector<std::uint32_t> order(count);
      draw_order(order, seed, 7);
      CHECK(std::set<std::uint32_t>(order.begin(), order.end()).size() == count);
      CHECK(*std::max_element(order.begin(), order.end()) == count - 1);
      different.insert(order);
      std::set<std::uint64_t> places;
      for (std::uint64_t i = 0; i < count; ++i) places.insert(place_in_order(i, count, seed));
      CHECK(places.size() == count);
      CHECK(*places.rbegin() == count - 1);
    }
    if (count >= 31) CHECK(different.size() >= kSeeds - 1);  // with one warp, "last warp first" is forward
  }
  std::vector<std::uint32_t> order(70);
  draw_order(order, 2, 0);
  CHECK(order.front() == 64);
  CHECK(order[6] == 32);
}

TEST_CASE("every thread of every block runs once and knows its place", "[emu]") {
  std::array<int, 3 * 2 * 3 * 4> ran{};
  Block block;
  const auto body = [&] {
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    ran[blockIdx.x * 24 + thread] += gridDim.x == 3 && blockDim.z == 4 ? 1 : 100;
  };
  const Launch launch{"test", {3}, {2, 3, 4}, 0, 5, body};
  for (unsigned x = 0; x < 3; ++x) block.run(launch, {x, 0, 0});
  for (const int count : ran) CHECK(count == 1);
}

TEST_CASE("a barrier separates writes from reads in every order", "[emu]") {
  int right = 0, wrong_without = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const bool with_barrier : {true, false}) {
      std::vector<int> shared(100, -1), out(100, -1);
      run({1}, {100}, seed, [&] {
        for (int round = 0; round < 3; ++round) {
          shared[threadIdx.x] = static_cast<int>(threadIdx.x) + round;
          if (with_barrier) __syncthreads();
          out[threadIdx.x] = shared[99 - threadIdx.x];
          if (with_barrier) __syncthreads();
        }
      });
      bool good = true;
      for (int i = 0; i < 100; ++i) good = good && out[static_cast<std::size_t>(i)] == 99 - i + 2;
      (with_barrier ? right : wrong_without) += good == with_barrier ? 1 : 0;
    }
  }
  fmt::print("[emu] {} of {} orders right with barriers, {} wrong without\n", right, kSeeds, wrong_without);
  CHECK(right == kSeeds);
  CHECK(wrong_without == kSeeds);
}

TEST_CASE("atomics change what is there, and return what was", "[emu][atomic]") {
  unsigned word = 12;
  CHECK(atomicAdd(&word, 3U) == 12);
  CHECK(atomicSub(&word, 5U) == 15);
  CHECK(atomicMin(&word, 7U) == 10);
  CHECK(atomicMin(&word, 9U) == 7);
  CHECK(atomicMax(&word, 12U) == 7);
  CHECK(atomicAnd(&word, 6U) == 12);
  CHECK(atomicOr(&word, 3U) == 4);
  CHECK(atomicXor(&word, 5U) == 7);
  CHECK(atomicExch(&word, 1U) == 2);
  CHECK(atomicCAS(&word, 2U, 9U) == 1);
  CHECK(atomicCAS(&word, 1U, 9U) == 1);
  CHECK(atomicInc(&word, 10U) == 9);
  CHECK(atomicInc(&word, 10U) == 10);
  CHECK(atomicDec(&word, 10U) == 0);
  CHECK(atomicDec(&word, 5U) == 10);
  CHECK(word == 5);
  double sum = 0.5;
  CHECK(atomicAdd(&sum, 0.25) == 0.5);
  CHECK(sum == 0.75);
  int total = 0;
  run({8}, {100}, 5, [&] { atomicAdd(&total, 1); });
  CHECK(total == 800);
}

TEST_CASE("whichever thread arrives last may go on first", "[emu]") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const unsigned threads : {1U, 2U, 3U}) {
      std::vector<int> order;
      run({1}, {threads}, seed, [&] {
        for (int round = 0; round < 3; ++round) {
          order.push_back(round);
          __syncthreads();
        }
      });
      CHECK(std::is_sorted(order.begin(), order.end()));
      CHECK(order.size() == std::size_t{3} * threads);
    }
  }
}

TEST_CASE("a warp runs ahead of another by more in one order than in another", "[emu]") {
  Block block;
  std::vector<int> warps;  // whose step it was
  const auto body = [&] {
    for (int step = 0; step < 8; ++step) {
      __syncwarp();
      if (lane_of_thread() == 0) warps.push_back(static_cast<int>(threadIdx.x / 32));
    }
  };
  std::set<std::vector<int>> different;
  std::size_t alternating = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    warps.clear();
    block.run({"test", {1}, {64}, 0, seed, body}, {0, 0, 0});
    REQUIRE(warps.size() == 16);
    different.insert(warps);
    int turns = 0;
    for (std::size_t i = 1; i < warps.size(); ++i) turns += warps[i] != warps[i - 1] ? 1 : 0;
    alternating += turns > 3 ? 1 : 0;
  }
  CHECK(different.size() > kSeeds / 2);
  CHECK(alternating > 0);
}

TEST_CASE("a later block may meet a barrier where the first meets none", "[emu]") {
  std::vector<int> order;
  run({3}, {4}, 1, [&] {
    if (blockIdx.x == 1) __syncthreads();
    order.push_back(static_cast<int>(blockIdx.x * 4 + threadIdx.x));
  });
  CHECK(order == std::vector<int>{3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8});
}

TEST_CASE("a thread that returned early is not run again, and leaves the others at their barrier", "[emu]") {
  int entered = 0;
  const std::string error = error_of({48}, [&] {
    ++entered;
    if (threadIdx.x >= 40) return;
    __syncthreads();
  });
  CHECK(entered == 48);
  CHECK_THAT(error, Contains("kernel test, block (0, 0, 0)") && Contains("8 of 48 threads returned") &&
                        Contains("40 of 48 threads wait in __syncthreads at ") &&
                        Contains("emu_block_test.cpp:") && Contains("first (40, 0, 0)"));
}

TEST_CASE("barriers in two branches are named with both lines", "[emu]") {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    int first = 0, second = 0;
    const std::string error = error_of(
        {64},
        [&] {
          if (threadIdx.x < 32) {
            first = __LINE__ + 1;
            __syncthreads();
          } else {
            second = __LINE__ + 1;
            __syncthreads();
          }
        },
        seed);
    CHECK_THAT(error, Contains("__syncthreads diverged") &&
                          Contains(fmt::format("emu_block_test.cpp:{}", first)) &&
                          Contains(fmt::format("emu_block_test.cpp:{}", second)));
  }
}

TEST_CASE("shuffles move values as the programming guide says", "[emu]") {
  int compared = 0;
  for (const std::uint64_t seed : {0, 1, 2, 3, 4}) {
    for (int width = 1; width <= 32; width *= 2) {
      for (int k = 0; k < 32; ++k) {
        std::array<std::array<int, 64>, 4> got{};
        run({1}, {64}, seed, [&] {
          const int value = static_cast<int>(threadIdx.x) * 3;
          got[0][threadIdx.x] = __shfl_sync(~0U, value, k, width);
          got[1][threadIdx.x] = __shfl_up_sync(~0U, value, static_cast<unsigned>(k), width);
          got[2][threadIdx.x] = __shfl_down_sync(~0U, value, static_cast<unsigned>(k), width);
          got[3][threadIdx.x] = __shfl_xor_sync(~0U, value, k, width);
        });
        for (int thread = 0; thread < 64; ++thread) {
          const auto at = static_cast<std::size_t>(thread);
          const int start = thread / width * width;
          CHECK(got[0][at] == 3 * (start + k % width));
          CHECK(got[1][at] == 3 * (thread - k >= start ? thread - k : thread));
          CHECK(got[2][at] == 3 * (thread + k < start + width ? thread + k : thread));
          const int other = thread / 32 * 32 + (thread % 32 ^ k);
          CHECK(got[3][at] == 3 * (other < start + width ? other : thread));
          ++compared;
        }
      }
    }
  }
  fmt::print("[emu] {} threads compared in four shuffles\n", compared);
}

TEST_CASE("halves of a warp meet apart, doubles move whole, a partial warp takes part", "[emu]") {
  for (const std::uint64_t seed : {0, 1, 3, 4, 5}) {
    std::vector<double> sums(40);
    std::vector<unsigned> votes(40);
    run({1}, {40}, seed, [&] {
      const unsigned lane = lane_of_thread();
      double sum = 0.1 * (lane + 1);
      if (threadIdx.x < 16) {
        for (int step = 8; step > 0; step /= 2) sum += __shfl_xor_sync(0x0000FFFF, sum, step, 16);
      } else if (threadIdx.x < 32) {
        __syncwarp(0xFFFF0000);
      }
      votes[threadIdx.x] = __ballot_sync(~0U, lane % 3 == 0);
      sums[threadIdx.x] = sum;
    });
    CHECK(sums[5] == Approx(0.1 * 136));
    CHECK(sums[20] == 0.1 * 21);
    CHECK(votes[0] == 0x49249249);
    CHECK(votes[39] == (0x49249249 & 0xFF));
  }
}

TEST_CASE("a shuffle outside its mask, from a lane that returned, or that never meets is an error", "[emu]") {
  CHECK_THAT(
      error_of({32}, [] { __shfl_sync(0x0000FFFF, 1, 0); }),
      Contains("calls __shfl_sync at ") && Contains("mask 0x0000ffff, which leaves out its own lane 16"));
  CHECK_THAT(error_of({32},
                      [] {
                        if (threadIdx.x == 3) return;
                        __shfl_sync(~0U, 1, 3);
                      }),
             Contains("reads lane 3 by __shfl_sync") && Contains("does not take part"));
  CHECK_THAT(error_of({32},
                      [] {
                        if (threadIdx.x < 16) {
                          __syncwarp();
                        } else {
                          __ballot_sync(~0U, 1);
                        }
                      }),
             Contains("no thread can go on") && Contains("16 of 32 threads wait in __syncwarp") &&
                 Contains("16 of 32 threads wait in a vote") && Contains("with mask 0xffffffff"));
}

TEST_CASE("a block that failed can run the next launch", "[emu]") {
  Block block;
  int ran = 0;
  const auto bad = [] {
    if (threadIdx.x == 0) __syncthreads();
  };
  const auto good = [&] {
    __syncthreads();
    ++ran;
  };
  for (int i = 0; i < 3; ++i) {
    CHECK_THROWS_AS(block.run({"bad", {1}, {33}, 0, 0, bad}, {}), KernelError);
    block.run({"good", {1}, {33}, 0, 0, good}, {});
  }
  CHECK(ran == 99);
  CHECK_THROWS_AS(Block::current(), KernelError);
}
