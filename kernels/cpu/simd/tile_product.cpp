// The register tile of every matrix product: R rows by V vectors of c stay in registers while depth runs; a
// row of b is loaded once for R rows, an element of a is broadcast to V vectors. (Goto and van de Geijn,
// Anatomy of High-Performance Matrix Multiplication, section 4; here a is read where it lies, because a
// broadcast does not care for strides and most of our products are too small to pay for packing it.)
#include <utility>

#include "kernels/cpu/simd/level.h"

namespace warpline::kernels::WARPLINE_SIMD_LEVEL {

namespace {

// Writes a tile that lies in `tile` (row-major, `stride` floats a row) where c's strides want it.
void scatter(const TileProduct& p, const float* tile, int stride, int rows) {
  for (int i = 0; i < rows; ++i) {
    float* const c = p.c + i * p.c_row;
    for (std::int64_t j = 0; j < p.columns; ++j) {
      float& to = c[j * p.c_column];
      const float product = p.alpha * tile[i * stride + j];
      to = p.beta == 0 ? product : product + p.beta * to;
    }
  }
}

template <int R, int V, std::size_t... T>
void tile(const TileProduct& p, std::index_sequence<T...>) {
  // T counts the R * V vectors of the tile, row by row.
  Vector sums[R * V] = {};
  if (p.bias != nullptr) ((sums[T] += p.bias[T / V]), ...);
  // c is written last; its lines come while the sums run.
  for (int i = 0; i < R; ++i) __builtin_prefetch(p.c + i * p.c_row, 1);
  const float* a = p.a;
  const float* b = p.b;
  const std::int64_t a_row = p.a_row, a_depth = p.a_depth, b_depth = p.b_depth;
  for (std::int64_t k = p.depth; k > 0; --k) {
    Vector line[V];
    for (int v = 0; v < V; ++v) line[v] = load(b + v * kWidth);
    // Rows of b may be a page apart, which the machine's own prefetcher does not cross.
    for (int v = 0; v < V; ++v) __builtin_prefetch(b + 12 * b_depth + v * kWidth);
    ((sums[T] += a[static_cast<std::int64_t>(T / V) * a_row] * line[T % V]), ...);
    a += a_depth;
    b += b_depth;
  }
  if (p.columns == V * kWidth && p.c_column == 1) {
    float* const c = p.c;
    if (p.beta == 0) {
      (store(c + static_cast<std::int64_t>(T / V) * p.c_row + T % V * kWidth, p.alpha * sums[T]), ...);
    } else {
      const auto update = [&](float* to, const Vector& sum) { store(to, p.alpha * sum + p.beta * load(to)); };
      (update(c + static_cast<std::int64_t>(T / V) * p.c_row + T % V * kWidth, sums[T]), ...);
    }
  } else {
    alignas(64) float buffer[R * V * kWidth];
    (store(buffer + T * kWidth, sums[T]), ...);
    scatter(p, buffer, V * kWidth, R);
  }
}

template <int R, int V>
void tile(const TileProduct& p) {
  tile<R, V>(p, std::make_index_sequence<R * V>{});
}

template <int V, int... R>
void tile_of(const TileProduct& p, std::integer_sequence<int, R...>) {
  using Tile = void (*)(const TileProduct&);
  static constexpr Tile kTiles[] = {&tile<R + 1, V>...};
  kTiles[p.rows - 1](p);
}

}  // namespace

void tile_product(const TileProduct& p) {
  if (p.vectors == 2) {
    tile_of<2>(p, std::make_integer_sequence<int, kTileRows>{});
  } else {
    tile_of<1>(p, std::make_integer_sequence<int, kTileRows>{});
  }
}

}  // namespace warpline::kernels::WARPLINE_SIMD_LEVEL
