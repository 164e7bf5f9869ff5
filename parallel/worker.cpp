#include "parallel/worker.h"

#include <cstring>
#include <utility>

#include "engine/ops/views.h"
#include "engine/optim/optimizer.h"
#include "kernels/error.h"
#include "parallel/report_text.h"
#include "parallel/texts.h"
#include "parallel/worker_impl.h"

namespace warpline::parallel {
namespace {

Traffic traffic_of(const Communicator& first, const Communicator& second) {
  Traffic sum = first.traffic();
  return sum += second.traffic();
}

}  // namespace

void Worker::Impl::check_batch(const Batch& batch, Range mine) const {
  const auto check = [&](const char* what, const Tensor& tensor) {
    if (!tensor.defined() || tensor.dims() == 0 || tensor.size(0) != mine.size()) {
      fail<ShapeError>("worker", "the {} of a batch of {} holds {}; this replica computes samples {} to {}",
                       what, batch.count, tensor.defined() ? warpline::to_string(tensor.shape()) : "nothing",
                       mine.begin, mine.end);
    }
  };
  if (holds_first()) check("input", batch.input);
  if (holds_last()) check("target", batch.target);
}

void Worker::Impl::pass(const Batch& batch, const std::vector<Action>& actions,
                        const std::function<void()>& step) {
  const Blocks blocks(batch.count, layout.micro_batches);
  const Range mine = blocks.samples(owned);
  check_batch(batch, mine);
  PassLosses losses{
      blocks.live(), batch.step_count == 0 ? batch.count : batch.step_count, step != nullptr, {}};
  if (holds_last()) {
    losses.blocks.resize(static_cast<std::size_t>(clip(owned, losses.live).size()));
  }
  Feed feed;
  for (std::int64_t block = owned.begin; block < owned.end; ++block) {
    feed.samples.push_back(blocks.samples(static_cast<int>(block)));
  }
  const auto rows = [&feed, &mine, this](const Tensor& tensor, int micro) {
    const Range samples = feed.samples[static_cast<std::size_t>(micro)];
    return narrow(context, tensor, samples.begin - mine.begin, samples.size());
  };
  feed.first_block = owned.begin;
  feed.input = [&](int micro) { return rows(batch.input, micro); };
  feed.target = [&](int micro) { return rows(batch.target, micro); };
  feed.loss = [&](int micro, double loss) { losses.blocks[static_cast<std::size_t>(micro)] = loss; };
  feed.seed = 1.0 / static_cast<double>(losses.step_count);
  feed.step = step;
  for (auto& [j, reducer] : reducers) reducer->begin_pass(losses.live);
  context.random.step = steps;
  run(*trainer, train_recorder, actions, feed, trained);
  pass_losses.push_back(std::move(losses));
  if (step != nullptr) ++steps;
}

void Worker::Impl::run(Executor& executor, Recorder& recorder, const std::vector<Action>& actions,
                       const Feed& feed, Traffic& traffic) {
  const Traffic before = traffic_of(*pipeline, *replicas);
  recorder.begin_run();
  executor.run(actions, feed);
  recorder.end_run();
  const Traffic after = traffic_of(*pipeline, *replicas);
  traffic.bytes_sent += after.bytes_sent - before.bytes_sent;
  traffic.bytes_received += after.bytes_received - before.bytes_received;
  traffic.messages_sent += after.messages_sent - before.messages_sent;
  traffic.messages_received += after.messages_received - before.messages_received;
}

Worker::Worker(Context& context, const Sequential& model, const Shape& sample_shape, LossFunction loss,
               const Layout& layout, std::shared_ptr<Communicator> world, const WorkerOptions& options)
    : impl_(std::make_unique<Impl>(context, model, sample_shape, loss, layout, std::move(world), options)) {}
Worker::~Worker() = default;

int Worker::rank() const { return impl_->world->rank(); }
int Worker::replica() const { return impl_->replica; }
int Worker::stage() const { return impl_->pipeline->rank(); }
bool Worker::needs_input() const { return impl_->holds_first(); }
bool Worker::needs_target() const { return impl_->holds_last(); }
std::vector<Parameter*> Worker::parameters() const { return impl_->parameters; }
const Plan& Worker::plan() const { return impl_->plan; }
const ModelCut& Worker::cut() const { return impl_->cut; }

Range Worker::samples(std::int64_t count) const {
  return Blocks(count, impl_->layout.micro_batches).samples(impl_->owned);
}

void Worker::train_step(const Batch& batch, Optimizer& optimizer) {
  impl_->guarded([&] { impl_->pass(batch, impl_->list, [&] { optimizer.step(impl_->context); }); });
}

void Worker::accumulate(const Batch& batch) {
  impl_->guarded([&] { impl_->pass(batch, impl_->accumulate_list, nullptr); });
}

// Block losses are added in block order on rank 0, in double, whoever computed them.
std::vector<double> Worker::gather_losses() {
  Impl& impl = *impl_;
  std::string mine;
  for (const PassLosses& pass : impl.pass_losses) {
    mine.append(reinterpret_cast<const char*>(pass.blocks.data()), pass.blocks.size() * sizeof(double));
  }
  const std::vector<std::string> texts = gather_texts(impl.context, *impl.world, mine);
  const std::vector<PassLosses> passes = std::exchange(impl.pass_losses, {});
  std::vector<double> means;
  if (texts.empty()) return means;
  std::vector<std::size_t> read(static_cast<std::size_t>(impl.layout.replicas));  // bytes of each
  double total = 0;
  for (const PassLosses& pass : passes) {
    for (int r = 0; r < impl.layout.replicas; ++r) {
      const std::string& text = texts[static_cast<std::size_t>(impl.last_rank(r))];
      const Range blocks = clip(part(impl.layout.micro_batches, impl.layout.replicas, r), pass.live);
      for (std::int64_t block = blocks.begin; block < blocks.end; ++block) {
        double loss = 0;
        std::size_t& offset = read[static_cast<std::size_t>(r)];
        std::memcpy(&loss, text.data() + offset, sizeof loss);
        offset += sizeof loss;
        total += loss;
      }
    }
    if (!pass.ends_step) continue;
    means.push_back(total / static_cast<double>(pass.step_count));
    total = 0;
  }
  return means;
}

State Worker::gather_state(const Optimizer* optimizer) {
  State part;  // replicas hold the same: the first one speaks
  if (replica() == 0) part = local_state(impl_->context, impl_->parameters, optimizer);
  return parallel::gather_state(impl_->context, *impl_->world, part);
}

void Worker::load_state(const State& state, Optimizer* optimizer) {
  parallel::load_state(impl_->context, impl_->parameters, optimizer, state);
}

RankReport Worker::report() const {
  const Impl& impl = *impl_;
  const bool trained = impl.steps > 0;
  const Traffic& traffic = trained ? impl.trained : impl.streamed;
  const Recorder& recorder = trained ? impl.train_recorder : impl.stream_recorder;
  RankReport report;
  report.rank = rank();
  report.replica = replica();
  report.stage = stage();
  report.device = to_string(impl.context.device());
  for (const auto& [j, stage] : impl.stages) {
    for (int i = 0; i < stage->layers().size(); ++i) report.layers.push_back(stage->layers().name(i));
  }
  for (const Parameter* parameter : impl.parameters) report.parameter_count += parameter->value.count();
  report.bytes_sent = traffic.bytes_sent;
  report.bytes_received = traffic.bytes_received;
  report.messages_sent = traffic.messages_sent;
  report.compute_seconds = recorder.compute_seconds();
  report.wait_seconds = recorder.wait_seconds();
  report.peak_activation_bytes = recorder.peak_bytes();
  report.actions = recorder.actions();
  return report;
}

std::vector<RankReport> Worker::gather_reports() {
  std::vector<RankReport> reports;
  for (const std::string& text : gather_texts(impl_->context, *impl_->world, to_text(report()))) {
    reports.push_back(report_from_text(text));
  }
  return reports;
}

std::vector<TraceEvent> Worker::gather_trace() {
  std::vector<TraceEvent> mine = impl_->train_recorder.events();
  const auto add = [&mine](const std::vector<TraceEvent>& more) {
    mine.insert(mine.end(), more.begin(), more.end());
  };
  add(impl_->stream_recorder.events());
  if (impl_->calls != nullptr) add(impl_->calls->events());
  std::vector<TraceEvent> all;
  for (const std::string& text : gather_texts(impl_->context, *impl_->world, to_text(mine))) {
    const std::vector<TraceEvent> events = events_from_text(text);
    all.insert(all.end(), events.begin(), events.end());
  }
  return all;
}

}  // namespace warpline::parallel
