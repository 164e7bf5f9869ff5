// ReLU, scaling and filling: the range is cut, the loops are in simd/.
#include <algorithm>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/select.h"
#include "kernels/cpu/split.h"
#include "kernels/ref/scalar.h"

namespace warpline::kernels::cpu {

void relu_forward(const float* x, float* y, const CountArgs& args, const Stream& stream) {
  split_elements(stream, args.count,
                 [&](std::int64_t at, std::int64_t count) { simd().relu(count, x + at, y + at); });
}

void relu_backward(const float* dy, const float* y, float* dx, const CountArgs& args, const Stream& stream) {
  split_elements(stream, args.count, [&](std::int64_t at, std::int64_t count) {
    simd().relu_backward(count, dy + at, y + at, dx + at);
  });
}

void scale(const float* x, float* y, const CountArgs& args, const Stream& stream) {
  const auto alpha = static_cast<float>(args.alpha);
  split_elements(stream, args.count,
                 [&](std::int64_t at, std::int64_t count) { simd().scale(count, alpha, x + at, y + at); });
}

void axpy(const float* x, float* y, const CountArgs& args, const Stream& stream) {
  const auto alpha = static_cast<float>(args.alpha);
  split_elements(stream, args.count,
                 [&](std::int64_t at, std::int64_t count) { simd().axpy(count, alpha, x + at, y + at); });
}

template <class T>
void fill(T* y, const CountArgs& args, const Stream& stream) {
  const T value = ref::from_double<T>(args.alpha);
  split_elements(stream, args.count,
                 [&](std::int64_t at, std::int64_t count) { std::fill_n(y + at, count, value); });
}

template void fill(float*, const CountArgs&, const Stream&);
template void fill(double*, const CountArgs&, const Stream&);
template void fill(std::int64_t*, const CountArgs&, const Stream&);
template void fill(std::int32_t*, const CountArgs&, const Stream&);
template void fill(std::uint8_t*, const CountArgs&, const Stream&);
template void fill(std::uint32_t*, const CountArgs&, const Stream&);

}  // namespace warpline::kernels::cpu
