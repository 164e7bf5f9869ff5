// Sums over any subset of axes. Neighbouring axes of one kind merge; what people sum (everything, rows,
// columns, all but the channels) is then outer x reduced x inner, once or repeated over an outer reduced
// axis. Partial sums are doubles of fixed pieces, added in the order of the pieces. Axes that alternate more
// often are summed element by element, by `ref`.
#include "kernels/ref/reduce.h"

#include <algorithm>
#include <array>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/select.h"
#include "kernels/cpu/split.h"

namespace warpline::kernels::cpu {

namespace {

struct Axis {
  std::int64_t size;
  bool reduced;
};

// x seen as lead x outer x length x inner; `lead` and `length` are summed.
struct View {
  std::int64_t lead = 1, outer = 1, length = 1, inner = 1;
};

// False: the axes alternate too often for a View.
bool view_of(const ReduceArgs& args, View& view) {
  std::array<Axis, kMaxDims> axes{};
  std::size_t dims = 0;
  for (int d = 0; d < args.dims; ++d) {
    const Axis axis{args.shape[static_cast<std::size_t>(d)], args.reduced[static_cast<std::size_t>(d)]};
    if (axis.size == 1) continue;
    if (dims > 0 && axes[dims - 1].reduced == axis.reduced) {
      axes[dims - 1].size *= axis.size;
    } else {
      axes[dims++] = axis;
    }
  }
  std::size_t at = dims;
  if (at > 0 && !axes[at - 1].reduced) view.inner = axes[--at].size;
  if (at > 0) view.length = axes[--at].size;
  if (at > 0) view.outer = axes[--at].size;
  if (at > 0) view.lead = axes[--at].size;
  return at == 0;
}

// Adds the sums of rows `rows` of one length x inner block to `into` (inner doubles).
void add_block(const float* x, Range rows, std::int64_t inner, double* into) {
  if (inner == 1) {
    *into += simd().sum(rows.size(), x + rows.begin);
  } else {
    simd().sum_rows(rows.size(), inner, x + rows.begin * inner, into);
  }
}

void sum_view(const float* x, float* y, const View& v, double scale, const Stream& stream) {
  const std::int64_t block = v.length * v.inner;
  // Long blocks are cut along `length`; short ones are taken several to a piece.
  const std::int64_t cuts = std::max<std::int64_t>(1, std::min(v.length, pieces_of(block, kGrain)));
  if (cuts == 1) {
    const std::int64_t cost = std::max<std::int64_t>(1, v.lead * block);
    split(stream, v.outer, std::max<std::int64_t>(1, kGrain / cost), [&](Range range, int worker) {
      auto* const sums = static_cast<double*>(
          stream.scratch->get(worker, 0, static_cast<std::size_t>(v.inner) * sizeof(double)));
      for (std::int64_t o = range.begin; o < range.end; ++o) {
        std::fill_n(sums, v.inner, 0.0);
        for (std::int64_t l = 0; l < v.lead; ++l) {
          add_block(x + (l * v.outer + o) * block, {0, v.length}, v.inner, sums);
        }
        for (std::int64_t i = 0; i < v.inner; ++i) y[o * v.inner + i] = static_cast<float>(scale * sums[i]);
      }
    });
    return;
  }
  auto* const partial = static_cast<double*>(
      stream.scratch->get(0, 0, static_cast<std::size_t>(v.outer * cuts * v.inner) * sizeof(double)));
  stream.pool->run(v.outer * cuts, [&](std::int64_t piece, int) {
    double* const sums = partial + piece * v.inner;
    std::fill_n(sums, v.inner, 0.0);
    for (std::int64_t l = 0; l < v.lead; ++l) {
      add_block(x + (l * v.outer + piece / cuts) * block, piece_of(v.length, cuts, piece % cuts), v.inner,
                sums);
    }
  });
  for (std::int64_t o = 0; o < v.outer; ++o) {
    for (std::int64_t i = 0; i < v.inner; ++i) {
      double total = 0;
      for (std::int64_t cut = 0; cut < cuts; ++cut) total += partial[(o * cuts + cut) * v.inner + i];
      y[o * v.inner + i] = static_cast<float>(scale * total);
    }
  }
}

}  // namespace

void sum(const float* x, float* y, const ReduceArgs& args, const Stream& stream) {
  View view;
  if (view_of(args, view)) {
    sum_view(x, y, view, args.scale, stream);
  } else {
    ref::sum(x, y, args, stream);
  }
}

}  // namespace warpline::kernels::cpu
