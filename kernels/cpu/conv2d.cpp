// Convolution as matrix products over the patches of one image at a time, which stay in the cache.
#include <algorithm>

#include "kernels/cpu/im2col.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/product.h"
#include "kernels/cpu/simd/simd.h"
#include "kernels/cpu/split.h"

namespace warpline::kernels::cpu {

namespace {

// Sizes of one group of one image. Matrices: weight filters x patch, columns patch x pixels, y filters x
// pixels.
struct Sizes {
  explicit Sizes(const Conv2dArgs& args)
      : channels(args.channels / args.groups),
        filters(args.filters / args.groups),
        patch(channels * args.kernel_h * args.kernel_w),
        pixels(args.out_h * args.out_w),
        image(args.height * args.width),
        work(std::max<std::int64_t>(1, args.filters * patch * pixels)) {}
  std::int64_t channels, filters, patch, pixels, image;
  std::int64_t work;  // multiply-adds of an image
};

// Multiply-adds of a piece: some 60 microseconds, a few times what handing it out costs.
constexpr std::int64_t kPieceWork = std::int64_t{2} << 20;

std::int64_t images_of_piece(const Sizes& sizes) {
  return std::max<std::int64_t>(1, kPieceWork / sizes.work);
}

float* floats(const Stream& stream, int worker, int slot, std::int64_t count) {
  return static_cast<float*>(
      stream.scratch->get(worker, slot, static_cast<std::size_t>(count) * sizeof(float)));
}

// body(image, group, worker)
template <class Body>
void each_image(const Conv2dArgs& args, const Sizes& sizes, const Stream& stream, const Body& body) {
  split(stream, args.batch, images_of_piece(sizes), [&](Range images, int worker) {
    for (std::int64_t image = images.begin; image < images.end; ++image) {
      for (std::int64_t group = 0; group < args.groups; ++group) body(image, group, worker);
    }
  });
}

}  // namespace

void conv2d_forward(const float* x, const float* weight, const float* bias, float* y, const Conv2dArgs& args,
                    const Stream& stream) {
  const Sizes sizes(args);
  each_image(args, sizes, stream, [&](std::int64_t image, std::int64_t group, int worker) {
    float* const pack = floats(stream, worker, 0, kPackDepth * kPackWidth);
    float* const columns = floats(stream, worker, 1, sizes.patch * sizes.pixels);
    float* const to = y + (image * args.filters + group * sizes.filters) * sizes.pixels;
    im2col(x + (image * args.channels + group * sizes.channels) * sizes.image, sizes.channels, args, columns);
    if (bias != nullptr) {
      for (std::int64_t f = 0; f < sizes.filters; ++f) {
        std::fill_n(to + f * sizes.pixels, sizes.pixels, bias[group * sizes.filters + f]);
      }
    }
    multiply({.m = sizes.filters,
              .n = sizes.pixels,
              .k = sizes.patch,
              .a = weight + group * sizes.filters * sizes.patch,
              .a_row = sizes.patch,
              .b = columns,
              .b_depth = sizes.pixels,
              .c = to,
              .c_row = sizes.pixels,
              .beta = bias != nullptr ? 1.0F : 0.0F},
             pack);
  });
}

void conv2d_backward_input(const float* dy, const float* weight, float* dx, const Conv2dArgs& args,
                           const Stream& stream) {
  const Sizes sizes(args);
  each_image(args, sizes, stream, [&](std::int64_t image, std::int64_t group, int worker) {
    float* const pack = floats(stream, worker, 0, kPackDepth * kPackWidth);
    float* const columns = floats(stream, worker, 1, sizes.patch * sizes.pixels);
    multiply({.m = sizes.patch,
              .n = sizes.pixels,
              .k = sizes.filters,
              .a = weight + group * sizes.filters * sizes.patch,
              .a_row = 1,
              .a_depth = sizes.patch,
              .b = dy + (image * args.filters + group * sizes.filters) * sizes.pixels,
              .b_depth = sizes.pixels,
              .c = columns,
              .c_row = sizes.pixels},
             pack);
    col2im(columns, sizes.channels, args,
           dx + (image * args.channels + group * sizes.channels) * sizes.image);
  });
}

void conv2d_backward_weight(const float* dy, const float* x, float* dweight, const Conv2dArgs& args,
                            const Stream& stream) {
  const Sizes sizes(args);
  const std::int64_t count = args.filters * sizes.patch;
  if (args.batch == 0 || sizes.pixels == 0) {
    std::fill_n(dweight, count, 0.0F);
    return;
  }
  // Each piece sums its images into a copy of its own; the copies are added as a binary tree.
  const std::int64_t pieces = std::min<std::int64_t>(8, pieces_of(args.batch, images_of_piece(sizes)));
  float* const partial = pieces > 1 ? floats(stream, 0, 2, pieces * count) : dweight;
  stream.pool->run(pieces, [&](std::int64_t piece, int worker) {
    float* const pack = floats(stream, worker, 0, kPackDepth * kPackWidth);
    float* const rows = floats(stream, worker, 1, sizes.patch * sizes.pixels);
    const Range images = piece_of(args.batch, pieces, piece);
    for (std::int64_t image = images.begin; image < images.end; ++image) {
      for (std::int64_t group = 0; group < args.groups; ++group) {
        im2row(x + (image * args.channels + group * sizes.channels) * sizes.image, sizes.channels, args,
               rows);
        multiply({.m = sizes.filters,
                  .n = sizes.patch,
                  .k = sizes.pixels,
                  .a = dy + (image * args.filters + group * sizes.filters) * sizes.pixels,
                  .a_row = sizes.pixels,
                  .b = rows,
                  .b_depth = sizes.patch,
                  .c = partial + piece * count + group * sizes.filters * sizes.patch,
                  .c_row = sizes.patch,
                  .beta = image == images.begin ? 0.0F : 1.0F},
                 pack);
      }
    }
  });
  if (pieces == 1) return;
  split_elements(stream, count, [&](std::int64_t at, std::int64_t size) {
    for (std::int64_t step = 1; step < pieces; step *= 2) {
      for (std::int64_t piece = 0; piece + step < pieces; piece += 2 * step) {
        float* const into = partial + piece * count + at;
        simd().axpy(size, 1.0F, partial + (piece + step) * count + at, into);
      }
    }
    std::copy_n(partial + at, size, dweight + at);
  });
}

void conv2d_backward_bias(const float* dy, float* dbias, const Conv2dArgs& args, const Stream& stream) {
  ReduceArgs reduce;
  reduce.dims = 3;
  reduce.shape = {args.batch, args.filters, args.out_h * args.out_w};
  reduce.reduced = {true, false, true};
  sum(dy, dbias, reduce, stream);
}

}  // namespace warpline::kernels::cpu
