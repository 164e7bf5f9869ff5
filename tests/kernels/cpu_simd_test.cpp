// The inner loops of target `cpu` on every instruction set that this machine runs, against the obvious loop:
// dispatch takes the best set only, so without this test the others would run on other people's machines
// first.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "kernels/cpu/simd/select.h"

namespace warpline::kernels {
namespace {

using Floats = std::vector<float>;

// Small integers: products and sums are exact in any order.
Floats integers(std::int64_t count, int seed) {
  Floats values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] =
        static_cast<float>(static_cast<int>((i * 7919 + static_cast<std::size_t>(seed) * 104729) % 17) - 8);
  }
  return values;
}

void check_tiles(const Simd& level, int& ran) {
  for (std::int64_t rows = 1; rows <= level.tile_rows; ++rows) {
    for (int vectors : {1, 2}) {
      for (std::int64_t columns : {1, vectors * level.width - 1, vectors * level.width}) {
        for (bool transposed : {false, true}) {
          for (float beta : {0.0F, 2.0F}) {
            const std::int64_t depth = 7, width = vectors * level.width;
            const Floats a = integers(rows * depth, 1), b = integers(depth * width, 2),
                         bias = integers(rows, 3);
            Floats c = integers(rows * width, 4);
            if (beta == 0) std::fill(c.begin(), c.end(), NAN);
            Floats expected = c;
            TileProduct tile;
            tile.rows = rows;
            tile.columns = columns;
            tile.depth = depth;
            tile.a = a.data();
            tile.a_row = transposed ? 1 : depth;
            tile.a_depth = transposed ? rows : 1;
            tile.b = b.data();
            tile.b_depth = width;
            tile.vectors = vectors;
            tile.c = c.data();
            tile.c_row = transposed ? 1 : width;
            tile.c_column = transposed ? rows : 1;
            tile.alpha = 3;
            tile.beta = beta;
            tile.bias = bias.data();
            for (std::int64_t i = 0; i < rows; ++i) {
              for (std::int64_t j = 0; j < columns; ++j) {
                float sum = bias[static_cast<std::size_t>(i)];
                for (std::int64_t k = 0; k < depth; ++k) {
                  sum += tile.a[i * tile.a_row + k * tile.a_depth] * tile.b[k * width + j];
                }
                float& to = expected[static_cast<std::size_t>(i * tile.c_row + j * tile.c_column)];
                to = 3 * sum + (beta == 0 ? 0 : beta * to);
              }
            }
            level.tile_product(tile);
            bool equal = true;
            for (std::size_t i = 0; i < c.size(); ++i) {
              equal = equal && (c[i] == expected[i] || (std::isnan(c[i]) && std::isnan(expected[i])));
            }
            CHECK(equal);
            ++ran;
          }
        }
      }
    }
  }
}

TEST_CASE("a tile of every height, width and layout on each instruction set", "[cpu][simd]") {
  for (const Simd* level : simd_levels()) {
    INFO(level->name);
    int ran = 0;
    check_tiles(*level, ran);
    fmt::print("tiles on {}: {} of {} ran\n", level->name, ran, level->tile_rows * 2 * 3 * 2 * 2);
  }
}

TEST_CASE("element-wise loops of every length on each instruction set", "[cpu][simd]") {
  for (const Simd* level : simd_levels()) {
    INFO(level->name);
    for (std::int64_t count : {0, 1, 3, 15, 16, 17, 31, 64, 1000}) {
      const auto size = static_cast<std::size_t>(count);
      Floats x = integers(count, 1), y = integers(count, 2);
      if (count > 2) x[2] = y[2] = NAN;
      Floats result(size + 1, 77);
      const auto equals = [&](auto expected) {
        bool equal = result[size] == 77;  // nothing is written behind the end
        for (std::size_t i = 0; i < size; ++i) {
          const float value = expected(x[i], y[i]);
          equal = equal && (result[i] == value || (std::isnan(result[i]) && std::isnan(value)));
        }
        return equal;
      };
      level->relu(count, x.data(), result.data());
      CHECK(equals([](float a, float) { return a <= 0 ? 0 : a; }));
      level->relu_backward(count, x.data(), y.data(), result.data());
      CHECK(equals([](float a, float b) { return b <= 0 ? 0 : a; }));
      level->scale(count, 3, x.data(), result.data());
      CHECK(equals([](float a, float) { return 3 * a; }));
      level->add(count, x.data(), y.data(), result.data());
      CHECK(equals([](float a, float b) { return a + b; }));
      level->mul(count, x.data(), y.data(), result.data());
      CHECK(equals([](float a, float b) { return a * b; }));
      level->add_scalar(count, x.data(), 5, result.data());
      CHECK(equals([](float a, float) { return a + 5; }));
      std::copy(y.begin(), y.end(), result.begin());
      level->axpy(count, 3, x.data(), result.data());
      CHECK(equals([](float a, float b) { return b + 3 * a; }));
    }
  }
}

TEST_CASE("sums on each instruction set", "[cpu][simd]") {
  for (const Simd* level : simd_levels()) {
    INFO(level->name);
    for (std::int64_t count : {0, 1, 31, 32, 33, 511, 512, 513, 5000}) {
      const Floats x = integers(count, 5);
      double expected = 0;
      for (float value : x) expected += static_cast<double>(value);
      CHECK(level->sum(count, x.data()) == expected);
    }
    const Floats x = integers(5 * 37, 6);
    std::vector<double> sums(37, 1);
    level->sum_rows(5, 37, x.data(), sums.data());
    for (std::size_t i = 0; i < 37; ++i) {
      double expected = 1;
      for (std::size_t row = 0; row < 5; ++row) expected += static_cast<double>(x[row * 37 + i]);
      CHECK(sums[i] == expected);
    }
  }
}

TEST_CASE("rows are copied and added on each instruction set", "[cpu][simd]") {
  for (const Simd* level : simd_levels()) {
    INFO(level->name);
    for (std::int64_t length : {1, 5, 8, 12, 23}) {
      // 2 blocks of 3 rows, 30 floats a row, 100 a block.
      const Floats from = integers(200 + kCopySlack, 7);
      Floats to(static_cast<std::size_t>(6 * length + kCopySlack));
      level->copy_rows(2, 100, 3, 30, length, from.data(), to.data());
      Floats sums = integers(3 * 30, 8);
      const Floats before = sums;
      level->add_rows(3, length, to.data(), sums.data(), 30);
      bool copied = true, added = true;
      for (std::int64_t row = 0; row < 6; ++row) {
        for (std::int64_t i = 0; i < length; ++i) {
          const float value = from[static_cast<std::size_t>(row / 3 * 100 + row % 3 * 30 + i)];
          copied = copied && to[static_cast<std::size_t>(row * length + i)] == value;
        }
      }
      for (std::int64_t at = 0; at < 90; ++at) {
        const std::int64_t row = at / 30, i = at % 30;
        const auto index = static_cast<std::size_t>(at);
        const float more = i < length ? to[static_cast<std::size_t>(row * length + i)] : 0;
        added = added && sums[index] == before[index] + more;
      }
      CHECK(copied);
      CHECK(added);
    }
  }
}

TEST_CASE("2 x 2 pooling with ties and NaN on each instruction set", "[cpu][simd]") {
  for (const Simd* level : simd_levels()) {
    INFO(level->name);
    for (std::int64_t count : {1, 3, 4, 5, 12, 17, 40}) {
      const std::int64_t rows = 3, width = 2 * count;
      Floats x(static_cast<std::size_t>(2 * rows * width));
      // Values 0..2 make ties frequent; every seventh is NaN.
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 7 == 3 ? NAN : static_cast<float>(i * i % 11 % 3);
      Floats best(x.size() / 2), y(x.size() / 4), dx(x.size(), 77);
      std::vector<std::int32_t> side(best.size()), winners(y.size());
      std::vector<std::uint8_t> positions(y.size());
      level->max_pairs(rows * width, x.data(), best.data(), side.data());
      level->max_rows(rows, count, best.data(), side.data(), y.data(), winners.data(), positions.data());
      const Floats dy = integers(rows * count, 9);
      level->max_pool_2x2_backward(rows, count, dy.data(), positions.data(), dx.data(), width);
      bool right = true;
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t j = 0; j < count; ++j) {
          const auto cell = [&](int p) {
            return static_cast<std::size_t>((2 * row + p / 2) * width + 2 * j + p % 2);
          };
          const auto at = static_cast<std::size_t>(row * count + j);
          int winner = 0;
          for (int p = 1; p < 4; ++p) {
            if (x[cell(p)] > x[cell(winner)] || std::isnan(x[cell(p)])) winner = p;
          }
          right = right && positions[at] == winner;
          right = right && (y[at] == x[cell(winner)] || (std::isnan(y[at]) && std::isnan(x[cell(winner)])));
          for (int p = 0; p < 4; ++p) right = right && dx[cell(p)] == (p == winner ? dy[at] : 0);
        }
      }
      CHECK(right);
    }
  }
}

TEST_CASE("the optimisers agree with double arithmetic on each instruction set", "[cpu][simd]") {
  constexpr std::size_t kCount = 37;
  for (const Simd* level : simd_levels()) {
    INFO(level->name);
    Floats gradient(kCount), parameter(kCount), momentum(kCount), square(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      gradient[i] = static_cast<float>(i) / 7 - 2;
      parameter[i] = 1 - static_cast<float>(i) / 11;
      momentum[i] = static_cast<float>(i) / 13;
      square[i] = static_cast<float>(i) / 17;
    }
    const Floats g = gradient, p = parameter, m = momentum, s = square;
    level->sgd(kCount, {0.1F, 0.9F, 0.5F, 0.01F, true, false}, gradient.data(), parameter.data(),
               momentum.data());
    for (std::size_t i = 0; i < kCount; ++i) {
      const double decayed = double{g[i]} + 0.01 * double{p[i]}, buffer = 0.9 * double{m[i]} + 0.5 * decayed;
      CHECK(momentum[i] == Approx(buffer).epsilon(1e-6).margin(1e-6));
      CHECK(parameter[i] == Approx(double{p[i]} - 0.1 * (decayed + 0.9 * buffer)).epsilon(1e-6).margin(1e-6));
    }
    parameter = p;
    momentum = m;
    level->adam(kCount, {0.1F, 0.9F, 0.99F, 0.1F, 0.01F, 1e-8F, 0.01F, 0.95F, 2.0F}, gradient.data(),
                parameter.data(), momentum.data(), square.data());
    for (std::size_t i = 0; i < kCount; ++i) {
      const double kept = 0.95 * double{p[i]}, decayed = double{g[i]} + 0.01 * kept;
      const double mean = 0.9 * double{m[i]} + 0.1 * decayed;
      const double variance = 0.99 * double{s[i]} + 0.01 * decayed * decayed;
      const double expected = kept - 0.1 * mean / (std::sqrt(variance) * 2 + 1e-8);
      CHECK(parameter[i] == Approx(expected).epsilon(1e-5).margin(1e-5));
    }
  }
}

}  // namespace
}  // namespace warpline::kernels
