#include "engine/ops/window.h"

#include "kernels/error.h"

namespace warpline {
namespace {

[[noreturn]] void leaves_int64(std::string_view op, std::string_view axis, const WindowAxis& w) {
  fail<ShapeError>(op, "sizes must fit int64: {} {} with kernel {}, dilation {}, padding {} and {} does not",
                   axis, w.length, w.kernel, w.dilation, w.pad_before, w.pad_after);
}

}  // namespace

std::string to_string(const Pair& pair) { return fmt::format("{}x{}", pair[0], pair[1]); }

void check_window(std::string_view op, const Pair& kernel, const Pair& stride, const Pair& padding,
                  const Pair& dilation) {
  const auto positive = [op](std::string_view what, const Pair& pair) {
    if (pair[0] <= 0 || pair[1] <= 0) {
      fail<ValueError>(op, "{} must be positive: it is {}", what, to_string(pair));
    }
  };
  positive("kernel size", kernel);
  positive("stride", stride);
  positive("dilation", dilation);
  if (padding[0] < 0 || padding[1] < 0) {
    fail<ValueError>(op, "padding must not be negative: it is {}", to_string(padding));
  }
}

std::int64_t window_count(std::string_view op, std::string_view axis, const WindowAxis& w, bool ceil_mode) {
  std::int64_t extent = 0, start_limit = 0, padded = 0;
  if (__builtin_mul_overflow(w.dilation, w.kernel - 1, &extent) ||
      __builtin_add_overflow(extent, std::int64_t{1}, &extent) ||
      __builtin_add_overflow(w.length, w.pad_before, &start_limit) ||
      __builtin_add_overflow(start_limit, w.pad_after, &padded)) {
    leaves_int64(op, axis, w);
  }
  if (extent > padded) {
    fail<ShapeError>(op,
                     "the kernel must fit the padded input: along the {}, kernel {} with dilation {} spans "
                     "{}, input {} with padding {} and {} has {}",
                     axis, w.kernel, w.dilation, extent, w.length, w.pad_before, w.pad_after, padded);
  }
  const std::int64_t room = padded - extent;
  if (!ceil_mode || room % w.stride == 0) return room / w.stride + 1;
  // One more window, unless it would start in the padding behind the input.
  const std::int64_t last = room / w.stride + 1;
  const std::int64_t starts = start_limit / w.stride + (start_limit % w.stride != 0 ? 1 : 0);
  return last >= starts ? last : last + 1;
}

}  // namespace warpline
