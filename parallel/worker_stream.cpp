// A worker without gradients: inference and evaluation, batches streaming through the stages.
#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/ops/max.h"
#include "kernels/error.h"
#include "parallel/texts.h"
#include "parallel/worker_impl.h"

namespace warpline::parallel {

void Worker::Impl::stream(const std::vector<Range>& batches, const std::function<Tensor(int)>& input,
                          const std::function<void(int, const Tensor&)>& output, Traffic& traffic) {
  if (batches.empty()) return;
  const Plan stream_plan = inference_plan(layout, cut, static_cast<int>(batches.size()));
  Feed feed;
  feed.samples = batches;
  feed.input = input;
  feed.output = output;
  run(*streamer, stream_recorder, stream_plan.per_rank[static_cast<std::size_t>(pipeline->rank())], feed,
      traffic);
}

double Worker::infer(const std::vector<std::int64_t>& sizes,
                     const std::function<Tensor(std::int64_t batch)>& input,
                     const std::function<void(std::int64_t batch, const Tensor& output)>& output) {
  Impl& impl = *impl_;
  std::vector<Range> batches;
  std::int64_t begin = 0;
  for (const std::int64_t size : sizes) {
    batches.push_back({begin, begin + size});
    begin += size;
  }
  const auto count = static_cast<std::int64_t>(sizes.size());
  const Range mine = part(count, impl.layout.replicas, impl.replica);
  std::vector<Tensor> outputs;  // of this replica, on its last stage
  const Stream stream = impl.context.stream();
  double seconds = 0;
  impl.guarded([&] {
    impl.world->barrier(stream).wait();
    const auto start = std::chrono::steady_clock::now();
    impl.stream(
        {batches.begin() + mine.begin, batches.begin() + mine.end},
        [&](int micro) { return input(mine.begin + micro); },
        [&](int, const Tensor& tensor) { outputs.push_back(tensor); }, impl.streamed);
    impl.world->barrier(stream).wait();
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (impl.holds_last() && rank() != 0) {
      for (const Tensor& tensor : outputs) impl.world->send(tensor, 0, stream).wait();
    }
    for (std::int64_t b = 0; rank() == 0 && b < count; ++b) {
      const int owner = impl.last_rank(part_of(count, impl.layout.replicas, b));
      if (owner == 0) {
        output(b, outputs[static_cast<std::size_t>(b - mine.begin)]);
        continue;
      }
      Shape shape = impl.cut.sample_shapes.back();
      shape.insert(shape.begin(), batches[static_cast<std::size_t>(b)].size());
      const Tensor tensor = Tensor::empty(impl.context, shape);
      impl.world->recv(tensor, owner, stream).wait();
      output(b, tensor);
    }
  });
  return seconds;
}

std::int64_t Worker::evaluate(std::int64_t samples, std::int64_t batch_size,
                              const std::function<Batch(std::int64_t begin, std::int64_t end)>& load) {
  Impl& impl = *impl_;
  if (batch_size < 1) fail<ValueError>("worker", "the batch size is {}; it must be at least 1", batch_size);
  const Range mine = part(samples, impl.layout.replicas, impl.replica);
  std::vector<Range> batches;
  for (std::int64_t begin = mine.begin; begin < mine.end; begin += batch_size) {
    batches.push_back({begin, std::min(begin + batch_size, mine.end)});
  }
  std::map<int, Tensor> targets;  // loaded with the input, where this rank needs both
  std::int64_t correct = 0;
  Traffic unused;
  impl.guarded([&] {
    const auto load_batch = [&](int micro) {
      const Range range = batches[static_cast<std::size_t>(micro)];
      Batch batch = load(range.begin, range.end);
      targets[micro] = batch.target;
      return batch.input;
    };
    const auto count_correct = [&](int micro, const Tensor& output) {
      if (!impl.holds_first()) load_batch(micro);
      const auto predicted = argmax(impl.context, output, -1).to_host<std::int64_t>();
      const auto target = targets.extract(micro).mapped().to_host<std::int64_t>();
      for (std::size_t i = 0; i < target.size(); ++i) correct += predicted[i] == target[i] ? 1 : 0;
    };
    impl.stream(batches, load_batch, count_correct, unused);
    std::int64_t total = 0;
    for (const std::string& text : gather_texts(impl.context, *impl.world, std::to_string(correct))) {
      total += std::stoll(text);
    }
    correct = std::stoll(broadcast_text(impl.context, *impl.world, std::to_string(total)));
  });
  return correct;
}

}  // namespace warpline::parallel
