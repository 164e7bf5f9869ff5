// Offsets past 2^31 elements, and past 2^32, in calls that touch a few cells of a huge input. A kernel whose
// offset passes through int reads another cell, or none. Kernels that read or write all they are given (gemm,
// sums, gradients to an input) cannot be tried without the memory, nor can the convolutions of `cpu`, which
// copy an image.
#include "tests/support/kernel_rows.h"
#include "tests/support/options.h"
#include "tests/support/random_values.h"
#include "tests/support/skip.h"
#include "tests/support/sparse_memory.h"
#include "tests/support/window_shapes.h"

using namespace warpline;
using namespace warpline::test;

namespace {

const Offers offers{true, false};

constexpr std::int64_t kHuge = (std::int64_t{1} << 30) + 5;  // one row: five of them pass 2^32

// 1 x 1 windows at the first and last column of each of 5 rows.
const Window kCorners{{5, kHuge}, {1, 1}, {1, kHuge - 1}};

// Cells 1, 2, .. at the first and last column of each row of 5 x kHuge.
void mark_corners(SparseMemory<float>& x) {
  for (std::int64_t row = 0; row < 5; ++row) {
    x[row * kHuge] = static_cast<float>(2 * row + 1);
    x[(row + 1) * kHuge - 1] = static_cast<float>(2 * row + 2);
  }
}

// Targets that have the host's memory, and need no copy of an array.
bool reads_sparse_memory(const kernels::Row& row) {
  return is_host(row.target) || row.target == DeviceKind::Emu;
}

const std::vector<float> kMarks{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

}  // namespace

TEST_CASE("broadcast strides pass 2^32", "[offsets]") {
  SparseMemory<float> a(5 * kHuge);
  if (a.data() == nullptr) SKIP_TEST("this system gives no address space without memory");
  mark_corners(a);
  BroadcastArgs args;
  args.dims = 2;
  args.shape = {5, 2};
  args.stride_a = {kHuge, kHuge - 1};
  args.count = 10;
  const Guarded<float> zero{0.0F};
  for_each_row<kernels::Add>(DType::Float32, args, [&](const auto& add) {
    if (!reads_sparse_memory(add.row())) return;
    auto y = unwritten<float>(10);
    add(a.data(), zero.data(), y.data(), args);
    CHECK(y.values() == kMarks);
    add(zero.data(), a.data(), y.data(), [&] {
      BroadcastArgs swapped = args;
      std::swap(swapped.stride_a, swapped.stride_b);
      return swapped;
    }());
    CHECK(y.values() == kMarks);
  });
}

TEST_CASE("a pooled plane passes 2^32", "[offsets]") {
  SparseMemory<float> x(5 * kHuge);
  if (x.data() == nullptr) SKIP_TEST("this system gives no address space without memory");
  mark_corners(x);
  const MaxPool2dArgs args = max_pool2d_args(1, kCorners);
  for_each_row<kernels::MaxPool2dForward>(DType::Float32, args, [&](const auto& forward) {
    if (!reads_sparse_memory(forward.row())) return;
    auto y = unwritten<float>(10);
    Guarded<std::uint8_t> positions(10, 77);
    forward(x.data(), y.data(), positions.data(), args);
    CHECK(y.values() == kMarks);
    CHECK(positions.values() == std::vector<std::uint8_t>(10, 0));
  });
  const Guarded<std::uint8_t> positions(10);
  for_each_row<kernels::MaxPool2dIndices>(DType::Int64, args, [&](const auto& flat) {
    auto indices = unwritten<std::int64_t>(10);
    flat(positions.data(), indices.data(), args);
    CHECK(indices[8] == 4 * kHuge);
    CHECK(indices[9] == 5 * kHuge - 1);
  });
}

TEST_CASE("an image of a convolution that copies none passes 2^32", "[offsets]") {
  SparseMemory<float> x(5 * kHuge);
  if (x.data() == nullptr) SKIP_TEST("this system gives no address space without memory");
  mark_corners(x);
  const Conv2dArgs args = conv2d_args(1, 1, 1, 1, kCorners);
  const Guarded<float> weight{1.0F};
  const float* const no_bias = nullptr;
  auto y = unwritten<float>(10);
  for_each_row<kernels::Conv2dForward>(DType::Float32, args, [&](const auto& forward) {
    if (forward.row().target == DeviceKind::Cpu || !reads_sparse_memory(forward.row())) return;
    y = unwritten<float>(10);
    forward(x.data(), weight.data(), no_bias, y.data(), args);
    CHECK(y.values() == kMarks);
  });
  std::copy(kMarks.begin(), kMarks.end(), y.begin());
  for_each_row<kernels::Conv2dBackwardWeight>(DType::Float32, args, [&](const auto& backward) {
    if (backward.row().target == DeviceKind::Cpu || !reads_sparse_memory(backward.row())) return;
    auto dweight = unwritten<float>(1);
    backward(y.data(), x.data(), dweight.data(), args);
    CHECK(dweight[0] == 385.0F);  // 1 + 4 + 9 + .. + 100
  });
}

TEST_CASE("a target's place passes 2^32", "[offsets]") {
  SparseMemory<float> log_probability(5 * kHuge);
  if (log_probability.data() == nullptr) SKIP_TEST("this system gives no address space without memory");
  mark_corners(log_probability);
  const NllArgs args{5, kHuge, 1, -100, Reduction::None};
  const Guarded<std::int64_t> target{0, kHuge - 1, 0, kHuge - 1, kHuge - 1};
  for_each_row<kernels::NllForward>(DType::Float32, args, [&](const auto& forward) {
    if (!reads_sparse_memory(forward.row())) return;
    auto loss = unwritten<float>(5), total = unwritten<float>(1);
    TargetError error;
    forward(log_probability.data(), target.data(), nullptr, loss.data(), total.data(), &error, args);
    CHECK(loss.values() == std::vector<float>{-1, -4, -5, -8, -10});
  });
}
