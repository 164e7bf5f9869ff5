// Times the kernels of a training step of `net` on target `cpu`, op by op and as a whole, by batch and
// threads.
//   kernels_benchmark --benchmark_filter='step/64/'
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "kernels/table.h"
#include "kernels/thread_pool.h"

namespace warpline::kernels {
namespace {

// One kernel call on buffers of its own.
struct Call {
  std::string name;
  std::function<void(const Stream&)> run;
  double flops;
};

class Step {
 public:
  explicit Step(std::int64_t batch) : batch_(batch) {
    float* const images = floats(batch * 28 * 28);
    float* const y1 = conv("conv1", images, 1, 28, 20, false);
    float* const p1 = pool_relu("pool1", y1, 20, 24);
    float* const y2 = conv("conv2", p1, 20, 12, 50, true);
    float* const p2 = pool_relu("pool2", y2, 50, 8);
    float* const h = linear("fc1", p2, 800, 500);
    relu("fc1", h, 500);
    loss(linear("fc2", h, 500, 10));
    optimizer();
  }

  const std::vector<Call>& calls() const { return calls_; }

 private:
  float* floats(std::int64_t count) {
    auto& block = memory_.emplace_back(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<float>((i * 7919) % 201) / 100 - 1;
    return block.data();
  }

  template <class Op, class... Pointers>
  void call(const std::string& name, double flops, const typename Op::Args& args, Pointers... pointers) {
    const auto function = kernel<Op>(DeviceKind::Cpu, DType::Float32, args);
    calls_.push_back({name, [=](const Stream& stream) { function(pointers..., args, stream); }, flops});
  }

  float* conv(const std::string& name, float* x, std::int64_t channels, std::int64_t size,
              std::int64_t filters, bool input_gradient) {
    const std::int64_t out = size - 4;
    const Conv2dArgs args{.batch = batch_,
                          .channels = channels,
                          .height = size,
                          .width = size,
                          .filters = filters,
                          .kernel_h = 5,
                          .kernel_w = 5,
                          .out_h = out,
                          .out_w = out};
    float* const weight = floats(filters * channels * 25);
    float* const bias = floats(filters);
    float* const y = floats(batch_ * filters * out * out);
    const double flops = 2.0 * static_cast<double>(batch_ * filters * channels * 25 * out * out);
    call<Conv2dForward>(name + "_forward", flops, args, x, weight, bias, y);
    if (input_gradient) {
      call<Conv2dBackwardInput>(name + "_input", flops, args, y, weight,
                                floats(batch_ * channels * size * size));
    }
    call<Conv2dBackwardWeight>(name + "_weight", flops, args, y, x, floats(filters * channels * 25));
    call<Conv2dBackwardBias>(name + "_bias", 0, args, y, floats(filters));
    return y;
  }

  float* pool_relu(const std::string& name, float* x, std::int64_t channels, std::int64_t size) {
    const std::int64_t planes = batch_ * channels, out = size / 2;
    const MaxPool2dArgs args{.planes = planes,
                             .height = size,
                             .width = size,
                             .kernel_h = 2,
                             .kernel_w = 2,
                             .stride_h = 2,
                             .stride_w = 2,
                             .out_h = out,
                             .out_w = out};
    float* const y = floats(planes * out * out);
    float* const positions = floats(planes * out * out);
    call<MaxPool2dForward>(name + "_forward", 0, args, x, y, positions);
    call<MaxPool2dBackward>(name + "_backward", 0, args, y, positions, floats(planes * size * size));
    relu(name, y, channels * out * out);
    return y;
  }

  void relu(const std::string& name, float* x, std::int64_t features) {
    const CountArgs args{.count = batch_ * features};
    float* const y = floats(args.count);
    call<ReluForward>(name + "_relu_forward", 0, args, x, y);
    call<ReluBackward>(name + "_relu_backward", 0, args, x, y, floats(args.count));
  }

  float* linear(const std::string& name, float* x, std::int64_t inputs, std::int64_t outputs) {
    float* const weight = floats(outputs * inputs);
    float* const y = floats(batch_ * outputs);
    const double flops = 2.0 * static_cast<double>(batch_ * inputs * outputs);
    call<Gemm>(name + "_forward", flops, {.m = batch_, .n = outputs, .k = inputs, .transpose_b = true}, x,
               weight, y);
    BroadcastArgs bias{.dims = 2, .count = batch_ * outputs};
    bias.shape = {batch_, outputs};
    bias.stride_a = {outputs, 1};
    bias.stride_b = {0, 1};
    call<Add>(name + "_add_bias", 0, bias, y, floats(outputs), y);
    call<Gemm>(name + "_input", flops, {.m = batch_, .n = inputs, .k = outputs}, y, weight,
               floats(batch_ * inputs));
    call<Gemm>(name + "_weight", flops, {.m = outputs, .n = inputs, .k = batch_, .transpose_a = true}, y, x,
               floats(outputs * inputs));
    ReduceArgs rows{.dims = 2};
    rows.shape = {batch_, outputs};
    rows.reduced = {true, false};
    call<Sum>(name + "_bias", 0, rows, y, floats(outputs));
    return y;
  }

  void loss(float* logits) {
    const AxisArgs axis{.outer = batch_, .classes = 10};
    float* const y = floats(batch_ * 10);
    call<LogSoftmaxForward>("log_softmax_forward", 0, axis, logits, y);
    call<LogSoftmaxBackward>("log_softmax_backward", 0, axis, logits, y, floats(batch_ * 10));
  }

  void optimizer() {
    const SgdArgs args{.count = 431080, .momentum = 0.9};
    call<SgdStep>("sgd", 0, args, floats(args.count), floats(args.count), floats(args.count));
  }

  std::int64_t batch_;
  std::vector<std::vector<float>> memory_;
  std::vector<Call> calls_;
};

void measure(benchmark::State& state, const std::vector<const Call*>& calls, int threads) {
  ThreadPool pool(threads);
  Scratch scratch(threads);
  const Stream stream{{DeviceKind::Cpu, 0}, &pool, &scratch};
  double flops = 0;
  for (const Call* call : calls) flops += call->flops;
  for (auto _ : state) {
    for (const Call* call : calls) call->run(stream);
  }
  if (flops > 0) {
    state.counters["flops"] = benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
  }
}

void list_benchmarks() {
  for (std::int64_t batch : {16, 32, 64, 256}) {
    const auto step = std::make_shared<Step>(batch);
    for (int threads : {1, 2}) {
      const std::string shape = "/" + std::to_string(batch) + "/threads:" + std::to_string(threads);
      const auto add = [&](const std::string& name, std::vector<const Call*> calls) {
        benchmark::RegisterBenchmark(
            (name + shape).c_str(),
            [step, calls, threads](benchmark::State& state) { measure(state, calls, threads); })
            ->Unit(benchmark::kMicrosecond)
            ->UseRealTime();
      };
      std::vector<const Call*> all;
      for (const Call& call : step->calls()) all.push_back(&call);
      add("step", all);
      for (const Call* call : all) add(call->name, {call});
    }
  }
}

}  // namespace
}  // namespace warpline::kernels

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  warpline::kernels::list_benchmarks();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
