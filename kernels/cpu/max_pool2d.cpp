// Max-pool over planes (batch x channels): any window by plain loops, 2 x 2 windows by simd/ loops.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/select.h"
#include "kernels/cpu/split.h"

namespace warpline::kernels::cpu {

namespace {

template <class Body>
void each_plane(const MaxPool2dArgs& args, const Stream& stream, const Body& body) {
  const std::int64_t cost = std::max<std::int64_t>(1, args.height * args.width);
  split(stream, args.planes, std::max<std::int64_t>(1, kGrain / cost), [&](Range range, int worker) {
    for (std::int64_t plane = range.begin; plane < range.end; ++plane) body(plane, worker);
  });
}

template <class Position>
void forward(const float* x, float* y, Position* positions, const MaxPool2dArgs& args, const Stream& stream) {
  each_plane(args, stream, [&](std::int64_t plane, int) {
    const float* const from = x + plane * args.height * args.width;
    std::int64_t to = plane * args.out_h * args.out_w;
    for (std::int64_t oh = 0; oh < args.out_h; ++oh) {
      for (std::int64_t ow = 0; ow < args.out_w; ++ow, ++to) {
        float best = -INFINITY;
        std::int64_t position = -1;
        for (std::int64_t r = 0; r < args.kernel_h; ++r) {
          const std::int64_t h = oh * args.stride_h - args.pad_h + r * args.dilation_h;
          if (h < 0 || h >= args.height) continue;
          for (std::int64_t s = 0; s < args.kernel_w; ++s) {
            const std::int64_t w = ow * args.stride_w - args.pad_w + s * args.dilation_w;
            if (w < 0 || w >= args.width) continue;
            const float value = from[h * args.width + w];
            if (position < 0 || value > best || std::isnan(value)) {
              best = value;
              position = r * args.kernel_w + s;
            }
          }
        }
        y[to] = best;
        positions[to] = static_cast<Position>(position);
      }
    }
  });
}

// Calls body(output offset, h, w) for each window's winner in a plane.
template <class Position, class Body>
void each_winner(const Position* positions, std::int64_t plane, const MaxPool2dArgs& args, const Body& body) {
  std::int64_t at = plane * args.out_h * args.out_w;
  for (std::int64_t oh = 0; oh < args.out_h; ++oh) {
    for (std::int64_t ow = 0; ow < args.out_w; ++ow, ++at) {
      const auto position = static_cast<std::int64_t>(positions[at]);
      const std::int64_t h = oh * args.stride_h - args.pad_h + position / args.kernel_w * args.dilation_h;
      const std::int64_t w = ow * args.stride_w - args.pad_w + position % args.kernel_w * args.dilation_w;
      body(at, h, w);
    }
  }
}

// Calls body with the positions as what they are.
template <class Body>
void with_positions(const void* positions, const MaxPool2dArgs& args, const Body& body) {
  if (args.wide_positions()) {
    body(static_cast<const std::int32_t*>(positions));
  } else {
    body(static_cast<const std::uint8_t*>(positions));
  }
}

}  // namespace

void max_pool2d_forward(const float* x, float* y, void* positions, const MaxPool2dArgs& args,
                        const Stream& stream) {
  if (args.wide_positions()) {
    forward(x, y, static_cast<std::int32_t*>(positions), args, stream);
  } else {
    forward(x, y, static_cast<std::uint8_t*>(positions), args, stream);
  }
}

void max_pool2d_backward(const float* dy, const void* positions, float* dx, const MaxPool2dArgs& args,
                         const Stream& stream) {
  with_positions(positions, args, [&](const auto* typed_positions) {
    each_plane(args, stream, [&](std::int64_t plane, int) {
      float* const to = dx + plane * args.height * args.width;
      std::fill_n(to, args.height * args.width, 0.0F);
      each_winner(typed_positions, plane, args,
                  [&](std::int64_t at, std::int64_t h, std::int64_t w) { to[h * args.width + w] += dy[at]; });
    });
  });
}

void max_pool2d_indices(const void* positions, std::int64_t* indices, const MaxPool2dArgs& args,
                        const Stream& stream) {
  with_positions(positions, args, [&](const auto* typed_positions) {
    each_plane(args, stream, [&](std::int64_t plane, int) {
      each_winner(typed_positions, plane, args,
                  [&](std::int64_t at, std::int64_t h, std::int64_t w) { indices[at] = h * args.width + w; });
    });
  });
}

bool max_pool2d_is_2x2(const void* args) {
  const auto& a = *static_cast<const MaxPool2dArgs*>(args);
  return a.kernel_h == 2 && a.kernel_w == 2 && a.stride_h == 2 && a.stride_w == 2 && a.pad_h == 0 &&
         a.pad_w == 0 && a.dilation_h == 1 && a.dilation_w == 1 && 2 * a.out_h <= a.height &&
         2 * a.out_w <= a.width;
}

void max_pool2d_forward_2x2(const float* x, float* y, void* positions, const MaxPool2dArgs& args,
                            const Stream& stream) {
  const std::int64_t pairs = 2 * args.out_h * args.out_w;  // of a plane
  const auto bytes = static_cast<std::size_t>(pairs) * sizeof(float) +
                     static_cast<std::size_t>(pairs + pairs / 2) * sizeof(std::int32_t);
  each_plane(args, stream, [&](std::int64_t plane, int worker) {
    auto* const best = static_cast<float*>(stream.scratch->get(worker, 0, bytes));
    auto* const side = reinterpret_cast<std::int32_t*>(best + pairs);
    const float* const from = x + plane * args.height * args.width;
    if (2 * args.out_w == args.width) {
      simd().max_pairs(pairs, from, best, side);
    } else {
      for (std::int64_t h = 0; h < 2 * args.out_h; ++h) {
        simd().max_pairs(args.out_w, from + h * args.width, best + h * args.out_w, side + h * args.out_w);
      }
    }
    const std::int64_t to = plane * args.out_h * args.out_w;
    simd().max_rows(args.out_h, args.out_w, best, side, y + to, side + pairs,
                    static_cast<std::uint8_t*>(positions) + to);
  });
}

void max_pool2d_backward_2x2(const float* dy, const void* positions, float* dx, const MaxPool2dArgs& args,
                             const Stream& stream) {
  each_plane(args, stream, [&](std::int64_t plane, int) {
    // An odd last row or column belongs to no window.
    if (2 * args.out_h < args.height || 2 * args.out_w < args.width) {
      std::fill_n(dx + plane * args.height * args.width, args.height * args.width, 0.0F);
    }
    const std::int64_t from = plane * args.out_h * args.out_w;
    simd().max_pool_2x2_backward(args.out_h, args.out_w, dy + from,
                                 static_cast<const std::uint8_t*>(positions) + from,
                                 dx + plane * args.height * args.width, args.width);
  });
}

}  // namespace warpline::kernels::cpu
