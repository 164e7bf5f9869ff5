#include "kernels/cpu/product.h"

#include <algorithm>

#include "kernels/cpu/simd/simd.h"

namespace warpline::kernels::cpu {

namespace {

// columns of b from `b`, padded with zeros to `width`, row after row.
void pack_panel(const float* b, const Product& p, std::int64_t depth, std::int64_t columns,
                std::int64_t width, float* to) {
  if (p.b_column == 1) {
    for (std::int64_t k = 0; k < depth; ++k, to += width) {
      std::copy_n(b + k * p.b_depth, columns, to);
      std::fill(to + columns, to + width, 0.0F);
    }
    return;
  }
  for (std::int64_t j = 0; j < width; ++j) {
    for (std::int64_t k = 0; k < depth; ++k) {
      to[k * width + j] = j < columns ? b[k * p.b_depth + j * p.b_column] : 0.0F;
    }
  }
}

}  // namespace

void multiply(const Product& p, float* pack) {
  const std::int64_t vector = simd().width, panel = 2 * vector;
  for (std::int64_t k0 = 0; k0 < p.k; k0 += kPackDepth) {
    const std::int64_t depth = std::min(kPackDepth, p.k - k0);
    for (std::int64_t j0 = 0; j0 < p.n; j0 += panel) {
      const std::int64_t columns = std::min(panel, p.n - j0);
      PanelProduct part;
      part.rows = p.m;
      part.columns = columns;
      part.depth = depth;
      part.a = p.a + k0 * p.a_depth;
      part.a_row = p.a_row;
      part.a_depth = p.a_depth;
      part.b = p.b + k0 * p.b_depth + j0 * p.b_column;
      part.b_depth = p.b_depth;
      part.vectors = columns > vector ? 2 : 1;
      part.c = p.c + j0 * p.c_column;
      part.c_row = p.c_row;
      part.c_column = p.c_column;
      part.alpha = p.alpha;
      part.beta = k0 == 0 ? p.beta : 1;
      part.bias = k0 == 0 ? p.bias : nullptr;
      const std::int64_t width = part.vectors * vector;
      if (p.b_column != 1 || columns < width) {
        pack_panel(part.b, p, depth, columns, width, pack);
        part.b = pack;
        part.b_depth = width;
      }
      simd().panel_product(part);
    }
  }
}

}  // namespace warpline::kernels::cpu
