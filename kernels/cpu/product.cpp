#include "kernels/cpu/product.h"

#include <algorithm>

#include "kernels/cpu/simd/select.h"
#include "kernels/cpu/split.h"

namespace warpline::kernels::cpu {

namespace {

// `columns` columns of b, padded with zeros to `width`, row after row.
void pack_panel(const float* b, const Product& p, std::int64_t depth, std::int64_t columns,
                std::int64_t width, float* to) {
  if (p.b_column == 1) {
    for (std::int64_t k = 0; k < depth; ++k, to += width) {
      std::copy_n(b + k * p.b_depth, columns, to);
      std::fill(to + columns, to + width, 0.0F);
    }
    return;
  }
  // By blocks of 16 x width: what is written stays in the first cache until it is full.
  constexpr std::int64_t kBlock = 16;
  for (std::int64_t k0 = 0; k0 < depth; k0 += kBlock) {
    const std::int64_t end = std::min(depth, k0 + kBlock);
    for (std::int64_t j = 0; j < columns; ++j) {
      for (std::int64_t k = k0; k < end; ++k) to[k * width + j] = b[k * p.b_depth + j * p.b_column];
    }
    for (std::int64_t k = k0; k < end; ++k) std::fill(to + k * width + columns, to + (k + 1) * width, 0.0F);
  }
}

constexpr std::int64_t kMostPanels = 32;

struct Panel {
  std::int64_t column, columns;
  int vectors;
  const float* b;
  std::int64_t b_depth;
};

}  // namespace

// Loops as in Goto and van de Geijn: a block of b is packed once and stays in the second cache while the rows
// of a pass by; a tile of a stays in the first while the panels of the block pass by.
void multiply(const Product& p, float* pack) {
  const std::int64_t vector = simd().width;
  const std::int64_t row_tiles = pieces_of(p.m, simd().tile_rows);
  for (std::int64_t k0 = 0; k0 < p.k; k0 += kPackDepth) {
    const std::int64_t depth = std::min(kPackDepth, p.k - k0);
    // Flat blocks are wider, so that long stretches of the rows of c are written.
    const std::int64_t block_width =
        std::min(kMostPanels * 2 * vector, kPackDepth * kPackWidth / depth / kPanel * kPanel);
    for (std::int64_t block = 0; block < p.n; block += block_width) {
      const std::int64_t end = std::min(p.n, block + block_width);
      Panel panels[kMostPanels];
      int count = 0;
      float* to = pack;
      for (std::int64_t j = block; j < end; j += 2 * vector) {
        Panel& panel = panels[count++];
        panel.column = j;
        panel.columns = std::min(2 * vector, end - j);
        panel.vectors = panel.columns > vector ? 2 : 1;
        panel.b = p.b + k0 * p.b_depth + j * p.b_column;
        panel.b_depth = p.b_depth;
        const std::int64_t width = panel.vectors * vector;
        if (p.b_column != 1 || (panel.columns < width && !p.b_wide)) {
          pack_panel(panel.b, p, depth, panel.columns, width, to);
          panel.b = to;
          panel.b_depth = width;
          to += depth * width;
        }
      }
      for (std::int64_t t = 0; t < row_tiles; ++t) {
        // Tiles as even as possible: 50 rows are five tiles of 10, not four of 12 and one of 2.
        const Range rows = piece_of(p.m, row_tiles, t);
        for (const Panel* panel = panels; panel < panels + count; ++panel) {
          TileProduct tile;
          tile.rows = rows.size();
          tile.columns = panel->columns;
          tile.depth = depth;
          tile.a = p.a + rows.begin * p.a_row + k0 * p.a_depth;
          tile.a_row = p.a_row;
          tile.a_depth = p.a_depth;
          tile.b = panel->b;
          tile.b_depth = panel->b_depth;
          tile.vectors = panel->vectors;
          tile.c = p.c + rows.begin * p.c_row + panel->column * p.c_column;
          tile.c_row = p.c_row;
          tile.c_column = p.c_column;
          tile.alpha = p.alpha;
          tile.beta = k0 == 0 ? p.beta : 1;
          tile.bias = k0 == 0 && p.bias != nullptr ? p.bias + rows.begin : nullptr;
          simd().tile_product(tile);
        }
      }
    }
  }
}

}  // namespace warpline::kernels::cpu
