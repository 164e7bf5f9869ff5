// Index arithmetic of convolutions. Divisions are slow, on a GPU and in emulation: a thread divides once and
// then counts.
#pragma once

#include <cstdint>

#include "kernels/args.h"
#include "kernels/cuda/target.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {

__device__ inline bool is_within(std::int64_t i, std::int64_t length) {
  return static_cast<std::uint64_t>(i) < static_cast<std::uint64_t>(length);
}

// A flat index over ... x middle_length x last_length as its three digits; the first is unbounded.
struct Digits {
  std::int64_t first, middle, last;
  __device__ Digits(std::int64_t flat, std::int64_t middle_length, std::int64_t last_length)
      : first(flat / last_length / middle_length),
        middle(flat / last_length % middle_length),
        last(flat % last_length) {}
};

// Digits that go forward by a fixed step, as an odometer does: a sum of two digits carries at most once.
class Odometer {
 public:
  __device__ Odometer(std::int64_t start, std::int64_t step, std::int64_t middle_length,
                      std::int64_t last_length)
      : at_(start, middle_length, last_length),
        step_(step, middle_length, last_length),
        middle_length_(middle_length),
        last_length_(last_length) {}

  __device__ const Digits& at() const { return at_; }
  __device__ void advance() {
    at_.first += step_.first;
    at_.middle += step_.middle;
    at_.last += step_.last;
    if (at_.last >= last_length_) {
      at_.last -= last_length_;
      ++at_.middle;
    }
    if (at_.middle >= middle_length_) {
      at_.middle -= middle_length_;
      ++at_.first;
    }
  }

 private:
  Digits at_, step_;
  std::int64_t middle_length_, last_length_;
};

// Half open.
struct Range {
  std::int64_t begin, end;
};

// The taps of a window that starts at `start` (negative in the padding) which meet a row or column of
// `length`.
__device__ inline Range taps_inside(std::int64_t start, std::int64_t taps, std::int64_t dilation,
                                    std::int64_t length) {
  const std::int64_t begin = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
  const std::int64_t behind = start >= length ? 0 : (length - start + dilation - 1) / dilation;
  return {begin, behind < taps ? behind : taps};
}

// The window whose tap is `from_first_start` cells behind the start of the first window: `place`, unless the
// stride steps over it.
__device__ inline bool window_at(std::int64_t from_first_start, std::int64_t stride, std::int64_t windows,
                                 std::int64_t& place) {
  place = from_first_start;
  if (stride == 1) return is_within(place, windows);
  place /= stride;
  return (place * stride == from_first_start) & is_within(place, windows);
}

// The numbers of a convolution and what follows from them, worked out once, on the host.
struct ConvShape : Conv2dArgs {
  std::int64_t group_channels, group_filters;
  std::int64_t taps;    // of a window, in one channel
  std::int64_t cells;   // of a channel of x
  std::int64_t places;  // of windows: cells of a filter's y

  explicit ConvShape(const Conv2dArgs& args)
      : Conv2dArgs(args),
        group_channels(channels / groups),
        group_filters(filters / groups),
        taps(kernel_h * kernel_w),
        cells(height * width),
        places(out_h * out_w) {}
};

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
