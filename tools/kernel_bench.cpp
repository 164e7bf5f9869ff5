#include "tools/kernel_bench.h"

#include <algorithm>
#include <chrono>

#include "kernels/runtime.h"
#include "tools/device_operands.h"

namespace warpline::tools {
namespace {

constexpr double kRepeatSeconds = 1e-3;  // of a repeat, at least: the wait at its end is small beside it
constexpr std::int64_t kMostCalls = 1024;

// Of one call, on average over so many between two waits.
double time_calls(const Call& call, const DeviceOperands& operands, const Stream& stream,
                  std::int64_t calls) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point began = Clock::now();
  for (std::int64_t i = 0; i < calls; ++i) call(operands.pointers());
  runtime(stream.device.kind).synchronize(stream);
  return std::chrono::duration<double>(Clock::now() - began).count() / static_cast<double>(calls);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Measurement measure(const Problem& problem, const Outputs& expected, const Stream& stream, const Call& call,
                    double min_seconds) {
  Measurement result;
  result.op = problem.op;
  result.shape = problem.shape;
  const void* const args = problem.args.get();
  result.flops = kernels::find(problem.op, DeviceKind::Ref, problem.dtype, args).flops(args);
  result.bytes = problem.bytes;

  const DeviceOperands operands(problem, stream);
  call(operands.pointers());
  result.wrong = first_difference(problem, operands.outputs(problem), expected);
  if (!result.wrong.empty()) return result;

  result.calls = 1;
  if (min_seconds > 0) {  // finding how many calls make a repeat is the warm-up
    while (result.calls < kMostCalls &&
           time_calls(call, operands, stream, result.calls) * static_cast<double>(result.calls) <
               kRepeatSeconds)
      result.calls *= 2;
  }
  std::vector<double> times;
  double passed = 0;
  do {
    times.push_back(time_calls(call, operands, stream, result.calls));
    passed += times.back() * static_cast<double>(result.calls);
  } while (passed < min_seconds);
  result.repeats = static_cast<std::int64_t>(times.size());
  result.seconds = median(std::move(times));
  return result;
}

}  // namespace warpline::tools
