// Convolution and its gradients as matrix products whose right side is never stored: each slice of it is
// gathered from the images on its way to shared memory.
//
//                    rows         columns               depth
//   forward          filters      batch x places of y   channels x taps
//   input gradient   channels     batch x cells of x    filters x taps
//   weight gradient  filters      channels x taps       batch x places of y
//
// Filters and channels are those of one group; the groups' products follow each other in the grid.
#include "kernels/cuda/device/block_product.h"
#include "kernels/cuda/device/load_slice.h"
#include "kernels/cuda/device/product.h"
#include "kernels/cuda/device/window.h"
#include "kernels/cuda/kernels.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {
namespace {

// For few filters or channels.
template <class T>
using FlatTile = BlockProduct<T, 32, 64, 4, 8>;

// Where this block's tile lies.
struct TilePlace {
  std::int64_t group, first_row, first_column;
  __device__ TilePlace(const TileGrid& grid, int rows, int columns)
      : group(blockIdx.x / grid.column_tiles / grid.row_tiles),
        first_row(blockIdx.x / grid.column_tiles % grid.row_tiles * rows),
        first_column(blockIdx.x % grid.column_tiles * columns) {}
};

// Fills a slice of the right side. A thread stays with one column, for which it divides once, and walks down
// the depth, whose digits it counts.
template <class Tile>
class ColumnWalk {
 public:
  __device__ ColumnWalk(const Tile& tile, std::int64_t depth, std::int64_t middle_length,
                        std::int64_t last_length)
      : column_(tile.thread() % Tile::kColumns),
        first_(tile.thread() / Tile::kColumns),
        depth_(tile.first_depth(depth) + first_, kStep, middle_length, last_length) {}

  __device__ int column() const { return column_; }

  template <class Slice, class Value>
  __device__ void fill(Slice& slice, const Value& value) {
    for (int p = first_; p < first_ + Tile::kDepth; p += kStep) {
      slice[p][column_] = value(depth_.at());
      depth_.advance();
    }
  }

 private:
  static constexpr int kStep = Tile::kGroupThreads / Tile::kColumns;
  static_assert(kStep > 0 && Tile::kDepth % kStep == 0, "the threads' walks share out the slice");
  int column_, first_;
  Odometer depth_;
};

// Fills a slice of the left side. A thread stays with one depth of each slice, which it finds by counting,
// and takes several rows: neighbouring threads read neighbours along the depth.
template <class Tile>
class RowWalk {
 public:
  __device__ RowWalk(const Tile& tile, std::int64_t depth, std::int64_t middle_length,
                     std::int64_t last_length)
      : p_(tile.thread() % Tile::kDepth),
        first_(tile.thread() / Tile::kDepth),
        depth_(tile.first_depth(depth) + p_, Tile::kDepth, middle_length, last_length) {}

  // top(digits) is the address of row 0, or null behind the end of the depth.
  template <class Slice, class Top>
  __device__ void fill(Slice& slice, std::int64_t rows, std::int64_t row_stride, const Top& top) {
    const auto* const from = top(depth_.at());
    for (int row = first_; row < first_ + Tile::kRows; row += kStep) {
      slice[p_][row] = from != nullptr && row < rows ? from[row * row_stride] : typename Tile::T{0};
    }
    depth_.advance();
  }

 private:
  static constexpr int kStep = Tile::kGroupThreads / Tile::kDepth;
  static_assert(kStep > 0 && Tile::kRows % kStep == 0, "the threads' walks share out the slice");
  int p_, first_;
  Odometer depth_;
};

template <class Tile, class T>
__global__ void conv2d_forward_tiles_kernel(const T* x, const T* weight, const T* bias, T* y, ConvShape shape,
                                            TileGrid grid) {
  __shared__ typename Tile::Shared shared;
  Tile tile;
  const TilePlace place(grid, Tile::kRows, Tile::kColumns);
  const std::int64_t depth = shape.group_channels * shape.taps;
  const std::int64_t columns = shape.batch * shape.places;
  const std::int64_t first_filter = place.group * shape.group_filters;
  const Operand<T> weights{weight + first_filter * depth, shape.group_filters, depth, depth, 1};

  ColumnWalk<Tile> walk(tile, depth, shape.kernel_h, shape.kernel_w);
  const std::int64_t column = place.first_column + walk.column();
  const Digits window(column, shape.out_h, shape.out_w);
  const std::int64_t top = window.middle * shape.stride_h - shape.pad_h;
  const std::int64_t left = window.last * shape.stride_w - shape.pad_w;
  const T* const image =
      x + (window.first * shape.channels + place.group * shape.group_channels) * shape.cells;

  tile.add(shared, depth, [&](typename Tile::Slices& slices, std::int64_t first) {
    ScalarLoads::load<Tile::kRows, Tile::kGroupThreads>(slices.a, weights, place.first_row, first,
                                                        tile.thread());
    walk.fill(slices.b, [&](const Digits& tap) {
      const std::int64_t h = top + tap.middle * shape.dilation_h, w = left + tap.last * shape.dilation_w;
      const bool inside = column < columns && tap.first < shape.group_channels &&
                          is_within(h, shape.height) && is_within(w, shape.width);
      return inside ? image[tap.first * shape.cells + h * shape.width + w] : T{0};
    });
  });
  tile.for_each_cell([&](int i, int j, T sum) {
    const std::int64_t flat = place.first_column + j, n = flat / shape.places, at = flat % shape.places;
    const std::int64_t filter = first_filter + place.first_row + i;
    if (flat >= columns || place.first_row + i >= shape.group_filters) return;
    y[(n * shape.filters + filter) * shape.places + at] = bias == nullptr ? sum : sum + bias[filter];
  });
}

// As the direct kernel, it gathers: no two threads write to one place, and a cell that no window covers gets
// 0.
template <class Tile, class T>
__global__ void conv2d_backward_input_tiles_kernel(const T* dy, const T* weight, T* dx, ConvShape shape,
                                                   TileGrid grid) {
  __shared__ typename Tile::Shared shared;
  Tile tile;
  const TilePlace place(grid, Tile::kRows, Tile::kColumns);
  const std::int64_t depth = shape.group_filters * shape.taps;
  const std::int64_t columns = shape.batch * shape.cells;
  const std::int64_t first_filter = place.group * shape.group_filters;
  const std::int64_t filter_weights = shape.group_channels * shape.taps;
  const T* const weights = weight + first_filter * filter_weights + place.first_row * shape.taps;

  RowWalk<Tile> rows(tile, depth, 1, shape.taps);
  ColumnWalk<Tile> walk(tile, depth, shape.kernel_h, shape.kernel_w);
  const std::int64_t column = place.first_column + walk.column();
  const Digits cell(column, shape.height, shape.width);
  const T* const planes = dy + (cell.first * shape.filters + first_filter) * shape.places;

  tile.add(shared, depth, [&](typename Tile::Slices& slices, std::int64_t) {
    rows.fill(slices.a, shape.group_channels - place.first_row, shape.taps, [&](const Digits& at) {
      return at.first < shape.group_filters ? weights + at.first * filter_weights + at.last : nullptr;
    });
    walk.fill(slices.b, [&](const Digits& tap) {
      std::int64_t i, j;
      // Both are worked out, for one unpredictable branch instead of two.
      const bool in_row = window_at(cell.middle + shape.pad_h - tap.middle * shape.dilation_h, shape.stride_h,
                                    shape.out_h, i);
      const bool in_column =
          window_at(cell.last + shape.pad_w - tap.last * shape.dilation_w, shape.stride_w, shape.out_w, j);
      const bool covered = (column < columns) & (tap.first < shape.group_filters) & in_row & in_column;
      return covered ? planes[tap.first * shape.places + i * shape.out_w + j] : T{0};
    });
  });
  tile.for_each_cell([&](int i, int j, T sum) {
    const std::int64_t flat = place.first_column + j, n = flat / shape.cells, at = flat % shape.cells;
    if (flat >= columns || place.first_row + i >= shape.group_channels) return;
    const std::int64_t channel = place.group * shape.group_channels + place.first_row + i;
    dx[(n * shape.channels + channel) * shape.cells + at] = sum;
  });
}

template <class Tile, class T>
__global__ void conv2d_backward_weight_tiles_kernel(const T* dy, const T* x, T* dweight, ConvShape shape,
                                                    TileGrid grid) {
  __shared__ typename Tile::Shared shared;
  Tile tile;
  const TilePlace place(grid, Tile::kRows, Tile::kColumns);
  const std::int64_t depth = shape.batch * shape.places;
  const std::int64_t columns = shape.group_channels * shape.taps;
  const std::int64_t first_filter = place.group * shape.group_filters + place.first_row;

  RowWalk<Tile> rows(tile, depth, 1, shape.places);
  ColumnWalk<Tile> walk(tile, depth, shape.out_h, shape.out_w);
  const std::int64_t column = place.first_column + walk.column();
  const Digits tap(column, shape.kernel_h, shape.kernel_w);
  const std::int64_t top = tap.middle * shape.dilation_h - shape.pad_h;
  const std::int64_t left = tap.last * shape.dilation_w - shape.pad_w;
  const T* const planes = x + (place.group * shape.group_channels + tap.first) * shape.cells;

  tile.add(shared, depth, [&](typename Tile::Slices& slices, std::int64_t) {
    rows.fill(slices.a, shape.group_filters - place.first_row, shape.places, [&](const Digits& at) {
      return at.first < shape.batch ? dy + (at.first * shape.filters + first_filter) * shape.places + at.last
                                    : nullptr;
    });
    walk.fill(slices.b, [&](const Digits& window) {
      const std::int64_t h = top + window.middle * shape.stride_h, w = left + window.last * shape.stride_w;
      const bool inside = column < columns && window.first < shape.batch && is_within(h, shape.height) &&
                          is_within(w, shape.width);
      return inside ? planes[window.first * shape.channels * shape.cells + h * shape.width + w] : T{0};
    });
  });
  tile.for_each_cell([&](int i, int j, T sum) {
    if (place.first_row + i >= shape.group_filters || place.first_column + j >= columns) return;
    dweight[(first_filter + i) * columns + place.first_column + j] = sum;
  });
}

template <class Tile, class T>
void launch_forward(const T* x, const T* weight, const T* bias, T* y, const ConvShape& shape,
                    const Stream& stream) {
  const TileGrid grid(shape.group_filters, shape.batch * shape.places, Tile::kRows, Tile::kColumns);
  launch<conv2d_forward_tiles_kernel<Tile, T>>(grid.blocks(shape.groups), dim3(Tile::kBlockThreads), 0,
                                               stream, x, weight, bias, y, shape, grid);
}

template <class Tile, class T>
void launch_backward_input(const T* dy, const T* weight, T* dx, const ConvShape& shape,
                           const Stream& stream) {
  const TileGrid grid(shape.group_channels, shape.batch * shape.cells, Tile::kRows, Tile::kColumns);
  launch<conv2d_backward_input_tiles_kernel<Tile, T>>(grid.blocks(shape.groups), dim3(Tile::kBlockThreads), 0,
                                                      stream, dy, weight, dx, shape, grid);
}

}  // namespace

// Where half of a tile's rows, or the depth of a slice, would be padding, the direct kernels do less.
bool conv2d_forward_tiles_supports(const Conv2dArgs& args) {
  const ConvShape shape(args);
  return shape.group_filters >= 16 && shape.group_channels * shape.taps >= 16;
}

template <class T>
void conv2d_forward_tiles(const T* x, const T* weight, const T* bias, T* y, const Conv2dArgs& args,
                          const Stream& stream) {
  const ConvShape shape(args);
  if (shape.batch * shape.filters * shape.places == 0) return;
  if (shape.group_filters > FlatTile<T>::kRows) {
    launch_forward<WideTile<T>>(x, weight, bias, y, shape, stream);
  } else {
    launch_forward<FlatTile<T>>(x, weight, bias, y, shape, stream);
  }
}

bool conv2d_backward_input_tiles_supports(const Conv2dArgs& args) {
  const ConvShape shape(args);
  return shape.group_channels >= 16 && shape.group_filters * shape.taps >= 16;
}

template <class T>
void conv2d_backward_input_tiles(const T* dy, const T* weight, T* dx, const Conv2dArgs& args,
                                 const Stream& stream) {
  const ConvShape shape(args);
  if (shape.batch * shape.channels * shape.cells == 0) return;
  if (shape.group_channels > FlatTile<T>::kRows) {
    launch_backward_input<WideTile<T>>(dy, weight, dx, shape, stream);
  } else {
    launch_backward_input<FlatTile<T>>(dy, weight, dx, shape, stream);
  }
}

// Fewer columns than a tile has make too few blocks.
bool conv2d_backward_weight_tiles_supports(const Conv2dArgs& args) {
  const ConvShape shape(args);
  return shape.group_filters >= 8 && shape.group_channels * shape.taps >= 32;
}

template <class T>
void conv2d_backward_weight_tiles(const T* dy, const T* x, T* dweight, const Conv2dArgs& args,
                                  const Stream& stream) {
  using Tile = DeepTile<T>;
  const ConvShape shape(args);
  if (shape.filters * shape.group_channels * shape.taps == 0) return;
  const TileGrid grid(shape.group_filters, shape.group_channels * shape.taps, Tile::kRows, Tile::kColumns);
  launch<conv2d_backward_weight_tiles_kernel<Tile, T>>(grid.blocks(shape.groups), dim3(Tile::kBlockThreads),
                                                       0, stream, dy, x, dweight, shape, grid);
}

#define WARPLINE_INSTANTIATE(T)                                                                              \
  template void conv2d_forward_tiles<T>(const T*, const T*, const T*, T*, const Conv2dArgs&, const Stream&); \
  template void conv2d_backward_input_tiles<T>(const T*, const T*, T*, const Conv2dArgs&, const Stream&);    \
  template void conv2d_backward_weight_tiles<T>(const T*, const T*, T*, const Conv2dArgs&, const Stream&);
WARPLINE_INSTANTIATE(float)
WARPLINE_INSTANTIATE(double)
WARPLINE_INSTANTIATE(std::uint32_t)

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
