// The register tile of every matrix product: R rows by V vectors of c stay in registers while depth runs; a
// row of b is loaded once for R rows, an element of a is broadcast to V vectors. (Goto and van de Geijn,
// Anatomy of High-Performance Matrix Multiplication, section 4; here a is read where it lies, because a
// broadcast does not care for strides and most of our products are too small to pay for packing it.)
#include <utility>

#include "kernels/cpu/simd/level.h"

namespace warpline::kernels::WARPLINE_SIMD_LEVEL {

namespace {

// Writes a tile that lies in `tile` (row-major, `stride` floats a row) where c's strides want it.
void scatter(const PanelProduct& p, const float* tile, int stride, std::int64_t row, int rows) {
  for (int i = 0; i < rows; ++i) {
    float* const c = p.c + (row + i) * p.c_row;
    for (std::int64_t j = 0; j < p.columns; ++j) {
      float& to = c[j * p.c_column];
      const float product = p.alpha * tile[i * stride + j];
      to = p.beta == 0 ? product : product + p.beta * to;
    }
  }
}

template <int R, int V, std::size_t... T>
void tile(const PanelProduct& p, std::int64_t row, std::index_sequence<T...>) {
  // T counts the R * V vectors of the tile, row by row.
  Vector sums[R * V] = {};
  if (p.bias != nullptr) ((sums[T] += p.bias[row + static_cast<std::int64_t>(T / V)]), ...);
  const float* a = p.a + row * p.a_row;
  const float* b = p.b;
  const std::int64_t a_row = p.a_row, a_depth = p.a_depth, b_depth = p.b_depth;
  for (std::int64_t k = p.depth; k > 0; --k) {
    Vector line[V];
    for (int v = 0; v < V; ++v) line[v] = load(b + v * kWidth);
    ((sums[T] += a[static_cast<std::int64_t>(T / V) * a_row] * line[T % V]), ...);
    a += a_depth;
    b += b_depth;
  }
  if (p.columns == V * kWidth && p.c_column == 1) {
    float* const c = p.c + row * p.c_row;
    if (p.beta == 0) {
      (store(c + static_cast<std::int64_t>(T / V) * p.c_row + T % V * kWidth, p.alpha * sums[T]), ...);
    } else {
      const auto update = [&](float* to, const Vector& sum) { store(to, p.alpha * sum + p.beta * load(to)); };
      (update(c + static_cast<std::int64_t>(T / V) * p.c_row + T % V * kWidth, sums[T]), ...);
    }
  } else {
    alignas(64) float buffer[R * V * kWidth];
    (store(buffer + T * kWidth, sums[T]), ...);
    scatter(p, buffer, V * kWidth, row, R);
  }
}

template <int R, int V>
void tile(const PanelProduct& p, std::int64_t row) {
  tile<R, V>(p, row, std::make_index_sequence<R * V>{});
}

template <int V, int... R>
void rows(const PanelProduct& p, std::integer_sequence<int, R...>) {
  using Tile = void (*)(const PanelProduct&, std::int64_t);
  constexpr Tile kTiles[] = {&tile<R + 1, V>...};
  // Tiles as even as possible: 50 rows are five tiles of 10, not four of 12 and one of 2.
  const std::int64_t tiles = (p.rows + kTileRows - 1) / kTileRows;
  for (std::int64_t t = 0; t < tiles; ++t) {
    const std::int64_t begin = p.rows * t / tiles, end = p.rows * (t + 1) / tiles;
    kTiles[end - begin - 1](p, begin);
  }
}

}  // namespace

void panel_product(const PanelProduct& p) {
  if (p.vectors == 2) {
    rows<2>(p, std::make_integer_sequence<int, kTileRows>{});
  } else {
    rows<1>(p, std::make_integer_sequence<int, kTileRows>{});
  }
}

}  // namespace warpline::kernels::WARPLINE_SIMD_LEVEL
