// The pool calls each piece once, whatever its size; errors arrive; scratch memory stops asking the system.
#include "kernels/thread_pool.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "kernels/error.h"

namespace warpline {
namespace {

TEST_CASE("each piece runs once and workers are in range", "[thread_pool]") {
  int ran = 0;
  for (int threads : {1, 2, 3, 5}) {
    ThreadPool pool(threads);
    REQUIRE(pool.size() == threads);
    for (std::int64_t pieces : {0, 1, 2, 3, 7, 64, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(pieces));
      std::atomic<int> strangers{0};
      pool.run(pieces, [&](std::int64_t piece, int worker) {
        ++calls[static_cast<std::size_t>(piece)];
        if (worker < 0 || worker >= threads) ++strangers;
      });
      CHECK(strangers == 0);
      for (const auto& count : calls) REQUIRE(count == 1);
      ++ran;
    }
  }
  fmt::print("thread pool: {} of 28 sizes ran\n", ran);
}

TEST_CASE("many short jobs in a row lose no piece", "[thread_pool]") {
  for (int threads : {2, 3}) {
    ThreadPool pool(threads);
    std::vector<std::int64_t> sums(5);
    std::int64_t wrong = 0;
    for (std::int64_t round = 0; round < 3000; ++round) {
      // Now and then the workers have gone to sleep when the next job comes.
      if (round % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      pool.run(5, [&](std::int64_t piece, int) { sums[static_cast<std::size_t>(piece)] = round + piece; });
      wrong += std::accumulate(sums.begin(), sums.end(), std::int64_t{0}) != 5 * round + 10;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("one worker has its index to itself", "[thread_pool]") {
  ThreadPool pool(3);
  std::vector<std::atomic<int>> busy(3);
  std::atomic<int> shared{0};
  pool.run(300, [&](std::int64_t, int worker) {
    auto& mine = busy[static_cast<std::size_t>(worker)];
    if (mine.fetch_add(1) != 0) ++shared;
    std::this_thread::yield();
    --mine;
  });
  CHECK(shared == 0);
}

TEST_CASE("long pieces run at the same time", "[thread_pool]") {
  // Two pieces that wait for each other end only if two threads carry them.
  ThreadPool pool(2);
  std::atomic<int> arrived{0};
  std::atomic<bool> met{true};
  pool.run(2, [&](std::int64_t, int) {
    ++arrived;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived < 2) {
      if (std::chrono::steady_clock::now() > deadline) {
        met = false;
        return;
      }
      std::this_thread::yield();
    }
  });
  CHECK(met);
}

TEST_CASE("the error of the lowest piece is rethrown, and the pool goes on", "[thread_pool]") {
  for (int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 50; ++round) {
      std::string message;
      try {
        pool.run(40, [&](std::int64_t piece, int) {
          // The lowest failing piece is the slowest to fail.
          if (piece == 7) std::this_thread::sleep_for(std::chrono::microseconds(200));
          if (piece >= 7) throw std::runtime_error(std::to_string(piece));
        });
      } catch (const std::runtime_error& error) {
        message = error.what();
      }
      REQUIRE(message == "7");
      std::atomic<int> calls{0};
      pool.run(10, [&](std::int64_t, int) { ++calls; });
      REQUIRE(calls == 10);
    }
  }
}

TEST_CASE("sizes below one are refused", "[thread_pool]") {
  CHECK_THROWS_AS(ThreadPool(0), ValueError);
  CHECK_THROWS_AS(ThreadPool(-3), ValueError);
  CHECK_THROWS_AS(Scratch(0), ValueError);
}

TEST_CASE("scratch is aligned, separate, and grows only", "[thread_pool]") {
  Scratch scratch(2);
  std::vector<void*> all;
  for (int worker : {0, 1}) {
    for (int slot = 0; slot < Scratch::kSlots; ++slot) {
      void* memory = scratch.get(worker, slot, 10000);
      CHECK(reinterpret_cast<std::uintptr_t>(memory) % 64 == 0);
      static_cast<char*>(memory)[9999] = 1;
      for (void* other : all) CHECK(other != memory);
      all.push_back(memory);
    }
  }
  void* const big = scratch.get(0, 0, 1 << 20);
  CHECK(scratch.get(0, 0, 16) == big);
  CHECK(scratch.get(0, 0, 1 << 20) == big);
  CHECK(scratch.get(1, 0, 10000) == all[Scratch::kSlots]);
  CHECK(scratch.get(0, 1, 0) != nullptr);
}

}  // namespace
}  // namespace warpline
