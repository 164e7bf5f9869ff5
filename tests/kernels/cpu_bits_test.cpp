// Target `cpu` gives the same bits for the same shape, whatever the number of threads, wherever its buffers
// lie (a micro-batch view starts at any multiple of 4 bytes) and whichever thread calls. Values are checked
// by the tests of each op; here they are only held against `ref`, so that equal garbage does not pass.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "kernels/table.h"
#include "kernels/thread_pool.h"
#include "tests/support/options.h"

namespace warpline::kernels {
namespace {

const test::Offers offers{false, true};

using Buffers = std::vector<float*>;

// Sizes in floats; the first `inputs` buffers are filled, the others are written.
struct Case {
  std::string name;
  std::vector<std::int64_t> sizes;
  std::size_t inputs;
  std::function<void(const Buffers&, DeviceKind, const Stream&)> call;
};

std::vector<std::vector<float>> run(const Case& test, DeviceKind kind, int threads, std::size_t shift) {
  ThreadPool pool(threads);
  Scratch scratch(threads);
  const Stream stream{{kind, 0}, &pool, &scratch};
  std::mt19937_64 random(test::options().seed);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<std::vector<float>> memory;
  Buffers buffers;
  for (std::size_t i = 0; i < test.sizes.size(); ++i) {
    const auto size = static_cast<std::size_t>(test.sizes[i]);
    auto& block = memory.emplace_back(size + 32, NAN);
    const auto past_line = reinterpret_cast<std::uintptr_t>(block.data()) % 64 / sizeof(float);
    float* const start = block.data() + (16 - past_line) % 16 + shift;
    if (i < test.inputs) {
      for (std::size_t k = 0; k < size; ++k) start[k] = value(random);
    }
    buffers.push_back(start);
  }
  test.call(buffers, kind, stream);
  std::vector<std::vector<float>> outputs;
  for (std::size_t i = test.inputs; i < test.sizes.size(); ++i) {
    outputs.emplace_back(buffers[i], buffers[i] + test.sizes[i]);
  }
  return outputs;
}

bool same_bits(const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(a[i].data(), b[i].data(), a[i].size() * sizeof(float)) != 0) return false;
  }
  return true;
}

template <class Op>
auto lookup(DeviceKind kind, const typename Op::Args& args) {
  return kernel<Op>(kind, DType::Float32, args);
}

Case gemm_case(GemmArgs args) {
  return {fmt::format("gemm {}x{}x{} {}{}", args.m, args.n, args.k, args.transpose_a ? 't' : 'n',
                      args.transpose_b ? 't' : 'n'),
          {args.m * args.k, args.k * args.n, args.m * args.n},
          2,
          [args](const Buffers& b, DeviceKind kind, const Stream& stream) {
            lookup<Gemm>(kind, args)(b[0], b[1], b[2], args, stream);
          }};
}

std::vector<Case> conv_cases(const std::string& shape, Conv2dArgs args) {
  const auto length = [](std::int64_t size, std::int64_t pad, std::int64_t dilation, std::int64_t kernel,
                         std::int64_t stride) {
    return (size + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
  };
  args.out_h = length(args.height, args.pad_h, args.dilation_h, args.kernel_h, args.stride_h);
  args.out_w = length(args.width, args.pad_w, args.dilation_w, args.kernel_w, args.stride_w);
  const std::int64_t x = args.batch * args.channels * args.height * args.width;
  const std::int64_t weight = args.filters * args.channels / args.groups * args.kernel_h * args.kernel_w;
  const std::int64_t y = args.batch * args.filters * args.out_h * args.out_w;
  return {{"conv forward " + shape,
           {x, weight, args.filters, y},
           3,
           [args](const Buffers& b, DeviceKind kind, const Stream& stream) {
             lookup<Conv2dForward>(kind, args)(b[0], b[1], b[2], b[3], args, stream);
           }},
          {"conv backward input " + shape,
           {y, weight, x},
           2,
           [args](const Buffers& b, DeviceKind kind, const Stream& stream) {
             lookup<Conv2dBackwardInput>(kind, args)(b[0], b[1], b[2], args, stream);
           }},
          {"conv backward weight " + shape,
           {y, x, weight},
           2,
           [args](const Buffers& b, DeviceKind kind, const Stream& stream) {
             lookup<Conv2dBackwardWeight>(kind, args)(b[0], b[1], b[2], args, stream);
           }},
          {"conv backward bias " + shape,
           {y, args.filters},
           1,
           [args](const Buffers& b, DeviceKind kind, const Stream& stream) {
             lookup<Conv2dBackwardBias>(kind, args)(b[0], b[1], args, stream);
           }}};
}

Case sum_case(const std::string& name, std::vector<std::int64_t> shape, std::vector<bool> reduced) {
  ReduceArgs args;
  args.dims = static_cast<int>(shape.size());
  std::int64_t count = 1, outputs = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    args.shape[d] = shape[d];
    args.reduced[d] = reduced[d];
    count *= shape[d];
    if (!reduced[d]) outputs *= shape[d];
  }
  return {
      "sum " + name, {count, outputs}, 1, [args](const Buffers& b, DeviceKind kind, const Stream& stream) {
        lookup<Sum>(kind, args)(b[0], b[1], args, stream);
      }};
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) {
      cases.push_back(gemm_case({.m = 64, .n = 500, .k = 800, .transpose_a = ta, .transpose_b = tb}));
      cases.push_back(gemm_case({.m = 16, .n = 10, .k = 500, .transpose_a = ta, .transpose_b = tb}));
      cases.push_back(gemm_case({.m = 37, .n = 41, .k = 1043, .transpose_a = ta, .transpose_b = tb}));
      cases.push_back(gemm_case({.m = 500, .n = 45, .k = 16, .transpose_a = ta, .transpose_b = tb}));
    }
  }
  const auto add = [&](std::vector<Case> more) { cases.insert(cases.end(), more.begin(), more.end()); };
  add(conv_cases(
      "net 1",
      {.batch = 16, .channels = 1, .height = 28, .width = 28, .filters = 20, .kernel_h = 5, .kernel_w = 5}));
  add(conv_cases(
      "net 2",
      {.batch = 15, .channels = 20, .height = 12, .width = 12, .filters = 50, .kernel_h = 5, .kernel_w = 5}));
  add(conv_cases("vgg", {.batch = 5,
                         .channels = 32,
                         .height = 16,
                         .width = 16,
                         .filters = 24,
                         .kernel_h = 3,
                         .kernel_w = 3,
                         .pad_h = 1,
                         .pad_w = 1}));
  add(conv_cases("odd", {.batch = 7,
                         .channels = 6,
                         .height = 23,
                         .width = 17,
                         .filters = 9,
                         .kernel_h = 3,
                         .kernel_w = 4,
                         .stride_h = 2,
                         .stride_w = 3,
                         .pad_h = 2,
                         .pad_w = 1,
                         .dilation_h = 2,
                         .dilation_w = 3,
                         .groups = 3}));
  cases.push_back(sum_case("all", {300, 1001}, {true, true}));
  cases.push_back(sum_case("rows", {300, 1001}, {true, false}));
  cases.push_back(sum_case("columns", {30, 100001}, {false, true}));
  cases.push_back(sum_case("alternating", {3, 50, 7, 11, 13}, {true, false, true, false, true}));
  for (std::int64_t count : {1, 100, 184320, 100003}) {
    cases.push_back({fmt::format("sgd {}", count),
                     {count, count, count},
                     3,
                     [count](const Buffers& b, DeviceKind kind, const Stream& stream) {
                       const SgdArgs args{.count = count, .lr = 0.1, .momentum = 0.9, .weight_decay = 0.01};
                       lookup<SgdStep>(kind, args)(b[0], b[1], b[2], args, stream);
                     }});
    cases.back().inputs = 1;  // parameter and momentum are results; they start from what follows
    cases.back().call = [count, step = cases.back().call](const Buffers& b, DeviceKind kind,
                                                          const Stream& stream) {
      for (std::int64_t i = 0; i < count; ++i) b[1][i] = b[2][i] = 1.0F / static_cast<float>(i + 1);
      step(b, kind, stream);
    };
  }
  const AxisArgs axis{.outer = 700, .classes = 10, .inner = 3};
  cases.push_back(
      {"log-softmax", {21000, 21000}, 1, [axis](const Buffers& b, DeviceKind kind, const Stream& stream) {
         lookup<LogSoftmaxForward>(kind, axis)(b[0], b[1], axis, stream);
       }});
  cases.push_back({"log-softmax backward",
                   {21000, 21000, 21000},
                   2,
                   [axis](const Buffers& b, DeviceKind kind, const Stream& stream) {
                     lookup<LogSoftmaxBackward>(kind, axis)(b[0], b[1], b[2], axis, stream);
                   }});
  return cases;
}

TEST_CASE("same bits for each thread count and each alignment", "[cpu][bits]") {
  const std::vector<Case> cases = all_cases();
  int ran = 0;
  for (const Case& test : cases) {
    INFO(test.name);
    const auto expected = run(test, DeviceKind::Cpu, 1, 0);
    const auto ref = run(test, DeviceKind::Ref, 1, 0);
    // Sums of up to 100,001 numbers in -1..1, in another order: far above rounding, far below a wrong term.
    double worst = 0;
    for (std::size_t i = 0; i < ref.size(); ++i) {
      for (std::size_t k = 0; k < ref[i].size(); ++k) {
        const double error = std::abs(static_cast<double>(expected[i][k]) - static_cast<double>(ref[i][k]));
        worst = error <= worst ? worst : error;  // NaN sticks
      }
    }
    CHECK(worst < 1e-3);
    for (int threads : {2, 3}) CHECK(same_bits(run(test, DeviceKind::Cpu, threads, 0), expected));
    for (std::size_t shift = 1; shift < 16; shift += 2) {
      INFO("shift " << 4 * shift << " bytes");
      CHECK(same_bits(run(test, DeviceKind::Cpu, 2, shift), expected));
    }
    std::vector<std::vector<float>> elsewhere;
    std::thread([&] { elsewhere = run(test, DeviceKind::Cpu, 1, 2); }).join();
    CHECK(same_bits(elsewhere, expected));
    ++ran;
  }
  fmt::print("cpu bits: {} of {} cases ran\n", ran, cases.size());
}

TEST_CASE("several ranks compute at once", "[cpu][bits]") {
  const std::vector<Case> cases = conv_cases(
      "net 2",
      {.batch = 8, .channels = 20, .height = 12, .width = 12, .filters = 50, .kernel_h = 5, .kernel_w = 5});
  for (const Case& test : cases) {
    INFO(test.name);
    const auto expected = run(test, DeviceKind::Cpu, 1, 0);
    std::vector<std::vector<std::vector<float>>> results(4);
    std::vector<std::thread> ranks;
    for (std::size_t r = 0; r < results.size(); ++r) {
      ranks.emplace_back([&, r] { results[r] = run(test, DeviceKind::Cpu, 1 + static_cast<int>(r) % 2, r); });
    }
    for (std::thread& rank : ranks) rank.join();
    for (const auto& result : results) CHECK(same_bits(result, expected));
  }
}

}  // namespace
}  // namespace warpline::kernels
