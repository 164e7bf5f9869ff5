// Samples: images that were read, and images that are drawn when they are first asked for.
#include "models/dataset.h"

#include <atomic>
#include <thread>

#include <catch2/catch.hpp>

#include "kernels/error.h"

using namespace warpline;

TEST_CASE("images that were read are given by index", "[dataset]") {
  const Samples samples({1, 2, 3, 4, 5, 6}, {7, 8}, 3);
  CHECK(samples.count() == 2);
  CHECK(samples.label(1) == 8);
  const auto image = samples.image(1);
  CHECK(std::vector<std::uint8_t>(image.begin(), image.end()) == std::vector<std::uint8_t>{4, 5, 6});
  CHECK_THROWS_AS(Samples({1, 2, 3, 4, 5}, {7, 8}, 3), ShapeError);
}

TEST_CASE("an image is drawn once, whoever asks", "[dataset]") {
  constexpr std::int64_t kCount = 200, kBytes = 50;
  std::atomic<int> drawn = 0;
  const Samples samples(
      [&](std::int64_t index, std::span<std::uint8_t> image) {
        ++drawn;
        for (std::size_t i = 0; i < image.size(); ++i)
          image[i] = static_cast<std::uint8_t>(3 * index + std::int64_t(i));
      },
      std::vector<std::uint8_t>(kCount), kBytes);
  CHECK(drawn == 0);
  std::vector<std::thread> threads;
  std::array<int, 4> wrong{};
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (std::int64_t i = 0; i < kCount; ++i) {
        const std::int64_t index = t % 2 == 0 ? i : kCount - 1 - i;
        const auto image = samples.image(index);
        if (std::ssize(image) != kBytes || image[49] != static_cast<std::uint8_t>(3 * index + 49)) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::array<int, 4>{});
  CHECK(drawn == kCount);
}

TEST_CASE("a drawing that fails is tried again", "[dataset]") {
  int calls = 0;
  const Samples samples(
      [&](std::int64_t, std::span<std::uint8_t> image) {
        if (++calls == 1) fail<Failure>("test", "no ink");
        image[0] = 9;
      },
      {0}, 1);
  CHECK_THROWS_AS(samples.image(0), Failure);
  CHECK(samples.image(0)[0] == 9);
  CHECK(calls == 2);
}
