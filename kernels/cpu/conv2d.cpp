// Convolution as matrix products over the patches of one image at a time, which stay in the cache.
//
// Why no library: on both convolutions of `net`, forward and backward, at batches of 16, 64 and 256, these
// loops were measured faster than oneDNN 2.6.3 (one thread, AVX-512), with plain tensors and with its blocked
// layouts alike, but for the weight gradient of conv1 at 256, where they are equal: 1, 20 and 50 channels
// fill its blocks of 16 badly.
#include <algorithm>

#include "kernels/cpu/im2col.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/product.h"
#include "kernels/cpu/simd/select.h"
#include "kernels/cpu/split.h"

namespace warpline::kernels::cpu {

namespace {

// Where the parts of one group of one image begin: weight filters x patch, patches patch x pixels or its
// transpose, y filters x pixels.
struct Groups {
  explicit Groups(const Conv2dArgs& args)
      : patches(args, args.channels / args.groups),
        channels(args.channels / args.groups),
        filters(args.filters / args.groups),
        patch(patches.cells()),
        pixels(args.out_h * args.out_w),
        line(args.out_w),
        count(args.groups),
        x_size(channels * args.height * args.width) {}

  std::int64_t x(std::int64_t image, std::int64_t group) const { return (image * count + group) * x_size; }
  std::int64_t y(std::int64_t image, std::int64_t group) const {
    return (image * count + group) * filters * pixels;
  }
  std::int64_t weight(std::int64_t group) const { return group * filters * patch; }

  // Images of a piece: some 60 microseconds of work, a few times what handing it out costs.
  std::int64_t images_of_piece() const {
    constexpr std::int64_t kPieceWork = std::int64_t{2} << 20;
    return std::max<std::int64_t>(1,
                                  kPieceWork / std::max<std::int64_t>(1, count * filters * patch * pixels));
  }

  Patches patches;
  std::int64_t channels, filters, patch, pixels, line, count, x_size;
};

// The memory of one worker.
struct Buffers {
  Buffers(const Stream& stream, int worker, const Patches& patches)
      : pack(floats(stream, worker, 0, kPackDepth * kPackWidth)),
        padded(floats(stream, worker, 1, patches.padded_size())),
        matrix(floats(stream, worker, 2, patches.matrix_size())) {}

  static float* floats(const Stream& stream, int worker, int slot, std::int64_t count) {
    return static_cast<float*>(
        stream.scratch->get(worker, slot, static_cast<std::size_t>(count) * sizeof(float)));
  }

  float *pack, *padded, *matrix;
};

// body(image, group, buffers)
template <class Body>
void each_image(const Conv2dArgs& args, const Groups& groups, const Stream& stream, const Body& body) {
  split(stream, args.batch, groups.images_of_piece(), [&](Range images, int worker) {
    const Buffers buffers(stream, worker, groups.patches);
    for (std::int64_t image = images.begin; image < images.end; ++image) {
      for (std::int64_t group = 0; group < args.groups; ++group) body(image, group, buffers);
    }
  });
}

}  // namespace

void conv2d_forward(const float* x, const float* weight, const float* bias, float* y, const Conv2dArgs& args,
                    const Stream& stream) {
  const Groups groups(args);
  each_image(args, groups, stream, [&](std::int64_t image, std::int64_t group, const Buffers& buffers) {
    groups.patches.pad(x + groups.x(image, group), buffers.padded);
    groups.patches.each_block([&](Range lines) {
      groups.patches.to_columns(buffers.padded, lines, buffers.matrix);
      multiply({.m = groups.filters,
                .n = lines.size() * groups.line,
                .k = groups.patch,
                .a = weight + groups.weight(group),
                .a_row = groups.patch,
                .b = buffers.matrix,
                .b_depth = lines.size() * groups.line,
                .c = y + groups.y(image, group) + lines.begin * groups.line,
                .c_row = groups.pixels,
                .bias = bias != nullptr ? bias + group * groups.filters : nullptr,
                .b_wide = true},
               buffers.pack);
    });
  });
}

void conv2d_backward_input(const float* dy, const float* weight, float* dx, const Conv2dArgs& args,
                           const Stream& stream) {
  const Groups groups(args);
  each_image(args, groups, stream, [&](std::int64_t image, std::int64_t group, const Buffers& buffers) {
    groups.patches.clear(buffers.padded);
    groups.patches.each_block([&](Range lines) {
      multiply({.m = groups.patch,
                .n = lines.size() * groups.line,
                .k = groups.filters,
                .a = weight + groups.weight(group),
                .a_row = 1,
                .a_depth = groups.patch,
                .b = dy + groups.y(image, group) + lines.begin * groups.line,
                .b_depth = groups.pixels,
                .c = buffers.matrix,
                .c_row = lines.size() * groups.line},
               buffers.pack);
      groups.patches.add_columns(buffers.matrix, lines, buffers.padded);
    });
    groups.patches.unpad(buffers.padded, dx + groups.x(image, group));
  });
}

void conv2d_backward_weight(const float* dy, const float* x, float* dweight, const Conv2dArgs& args,
                            const Stream& stream) {
  const Groups groups(args);
  const std::int64_t count = args.filters * groups.patch;
  if (args.batch == 0 || groups.pixels == 0) {
    std::fill_n(dweight, count, 0.0F);
    return;
  }
  // Each piece sums its images into a copy of its own; the copies are added as a binary tree.
  const std::int64_t pieces = std::min<std::int64_t>(8, pieces_of(args.batch, groups.images_of_piece()));
  float* const partial = pieces > 1 ? Buffers::floats(stream, 0, 3, pieces * count) : dweight;
  stream.pool->run(pieces, [&](std::int64_t piece, int worker) {
    const Buffers buffers(stream, worker, groups.patches);
    const Range images = piece_of(args.batch, pieces, piece);
    for (std::int64_t image = images.begin; image < images.end; ++image) {
      for (std::int64_t group = 0; group < args.groups; ++group) {
        groups.patches.pad(x + groups.x(image, group), buffers.padded);
        groups.patches.each_block([&](Range lines) {
          groups.patches.to_rows(buffers.padded, lines, buffers.matrix);
          multiply({.m = groups.filters,
                    .n = groups.patch,
                    .k = lines.size() * groups.line,
                    .a = dy + groups.y(image, group) + lines.begin * groups.line,
                    .a_row = groups.pixels,
                    .b = buffers.matrix,
                    .b_depth = groups.patch,
                    .c = partial + piece * count + groups.weight(group),
                    .c_row = groups.patch,
                    .beta = image == images.begin && lines.begin == 0 ? 0.0F : 1.0F,
                    .b_wide = true},
                   buffers.pack);
        });
      }
    }
  });
  if (pieces == 1) return;
  split_elements(stream, count, [&](std::int64_t at, std::int64_t size) {
    for (std::int64_t step = 1; step < pieces; step *= 2) {
      for (std::int64_t piece = 0; piece + step < pieces; piece += 2 * step) {
        simd().axpy(size, 1.0F, partial + (piece + step) * count + at, partial + piece * count + at);
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
