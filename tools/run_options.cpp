#include "tools/run_options.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <nlohmann/json.hpp>

#include "kernels/emu/order.h"
#include "kernels/error.h"
#include "models/load_dataset.h"
#include "models/model.h"
#include "parallel/backends.h"
#include "parallel/partition.h"
#include "tools/device_choice.h"
#include "tools/require.h"

namespace warpline::tools {
namespace {

// How a strategy uses the flags; a flag that it does not use is refused rather than ignored.
struct Strategy {
  const char* name;
  bool replicas, stages;
};
constexpr Strategy kStrategies[] = {
    {"serial", false, false},  {"data", true, false},  {"layer", false, true},
    {"pipeline", false, true}, {"hybrid", true, true},
};

const Strategy& find_strategy(const std::string& name) {
  for (const Strategy& strategy : kStrategies) {
    if (name == strategy.name) return strategy;
  }
  fail<ValueError>("--strategy",
                   "no strategy is called '{}'; there are serial, data, layer, pipeline and hybrid", name);
}

void require_use(Command command, const char* flag, const std::string& strategy, bool used) {
  if (command.given(flag) && !used)
    fail<ValueError>(flag, "--strategy {} does not use it; leave it out", strategy);
}

// Started by a launcher, each process would train alone, and all of them write the same files.
void require_one_process() {
  for (const char* variable : {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"}) {
    const char* size = std::getenv(variable);
    if (size == nullptr || std::string_view(size).empty() || std::string_view(size) == "1") continue;
    fail<ValueError>(variable,
                     "is {}, but no back end has processes as ranks yet; start one process, whose ranks are "
                     "threads (--strategy, --data-parallel, --stages), or unset it",
                     size);
  }
}

parallel::SendMode parse_send_mode(const std::string& name) {
  if (name == "rendezvous") return parallel::SendMode::Rendezvous;
  if (name == "bounded") return parallel::SendMode::Bounded;
  if (name == "buffered") return parallel::SendMode::Buffered;
  fail<ValueError>("--send-mode", "no send mode is called '{}'; there are rendezvous, bounded and buffered",
                   name);
}

}  // namespace

void RunOptions::add_flags(Command command) {
  command.add_option("--model", model,
                     "net (two convolutions), mlp (three dense layers) or vgg (a deeper stack)");
  command.add_option("--depth", depth, "vgg: how many layers it can be cut into, 2 to 24");
  command.add_option("--strategy", strategy, "serial, data, layer, pipeline or hybrid (data x pipeline)");
  command.add_option("--data-parallel", data_parallel, "replicas of the model (data, hybrid); 2 by default")
      .default_text("2");
  command
      .add_option("--stages", stages,
                  "ranks that share the layers of a replica (layer, pipeline, hybrid); 2 by default")
      .default_text("2");
  command.add_option("--cut", cut,
                     "first layers of stages 1, 2, ..., names or numbers, comma-separated; default: by cost");
  command.add_option(
      "--device", device,
      "cpu (fast), ref (slow and obvious), cuda (GPUs) or emu (the CUDA kernels, emulated); rank r "
      "takes device r of that kind");
  command.add_flag("--check", check,
                   "emu: check every memory access of the kernels; also WARPLINE_CHECK=1 in the environment");
  command.add_option("--backend", backend, "how ranks talk; local: threads of this process");
  command.add_option("--threads", threads, "CPU threads of each rank; default: cores / ranks")
      .default_text("auto");
  command.add_option("--send-mode", send_mode, "when a send is done: rendezvous, bounded or buffered");
  command.add_option("--order-seed", order_seed,
                     "of the order in which ready calls progress, and of threads, blocks and streams on emu");
  command.add_option("--timeout", timeout, "seconds that any wait may take");
  command.add_option("--message-delay", message_delay,
                     "seconds added to every message, to see what overlaps");
  command.add_option("--data", data,
                     "auto (MNIST where it is found, else the built-in digits), mnist or builtin");
  command.add_option("--data-dir", data_dir,
                     "folder of the four MNIST files; else $WARPLINE_DATA, data/mnist");
  command.add_option("--json", json, "write the results to this file");
  command.add_option("--trace", trace,
                     "write a timeline for ui.perfetto.dev or chrome://tracing to this file");
}

void RunOptions::require_stages(Command command, const char* flag) const {
  require_use(command, flag, strategy, find_strategy(strategy).stages);
}

void RunOptions::resolve(Command command) {
  const Strategy& chosen = find_strategy(strategy);
  const auto given = [&](const char* flag) { return command.given(flag); };
  require_use(command, "--data-parallel", strategy, chosen.replicas);
  require_stages(command, "--stages");
  require_stages(command, "--cut");
  if (given("--depth") && model != "vgg")
    fail<ValueError>("--depth", "only --model vgg has it; got --model {}", model);
  if (!given("--data-parallel")) data_parallel = chosen.replicas ? 2 : 1;
  if (!given("--stages")) stages = chosen.stages ? 2 : 1;
  require_at_least_one("--data-parallel", data_parallel);
  require_at_least_one("--stages", stages);
  require_at_least_one("--batch-size", batch_size);
  require_at_most("--batch-size", batch_size, std::int64_t{1} << 30);
  require_positive("--timeout", timeout);
  require_at_most("--timeout", timeout, parallel::kMostSeconds);
  require_not_negative("--message-delay", message_delay);
  require_at_most("--message-delay", message_delay, parallel::kMostSeconds);
  require_one_process();
  if (static_cast<std::int64_t>(data_parallel) * stages > 1024) {
    fail<ValueError>("--data-parallel", "{} replicas x {} stages are more than 1,024 ranks; use fewer",
                     data_parallel, stages);
  }
  if (given("--threads")) {
    require_at_least_one("--threads", threads);
    require_at_most("--threads", threads, 1024);
  } else {
    threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / ranks());
  }
  parallel::check_devices(parallel::find_backend(backend), parse_device_kind(device), ranks());  // no index
  check = choose_device(device, check).kind == DeviceKind::EmuChecked;
  emu::set_order_seed(order_seed);
  parse_send_mode(send_mode);
}

parallel::Layout RunOptions::layout(const Sequential& layers) const {
  return {.replicas = data_parallel,
          .ranks = stages,
          .micro_batches = data_parallel,
          .cuts = cut.empty() ? std::vector<int>{} : parallel::parse_cuts(layers, cut)};
}

parallel::LocalOptions RunOptions::local_options() const {
  return {.send_mode = parse_send_mode(send_mode),
          .order_seed = order_seed,
          .timeout_seconds = timeout,
          .message_delay_seconds = message_delay};
}

std::vector<std::shared_ptr<Context>> RunOptions::contexts() const {
  std::vector<std::shared_ptr<Context>> contexts;
  for (int rank = 0; rank < ranks(); ++rank) {
    contexts.push_back(std::make_shared<Context>(Device{choose_device(device, check).kind, rank}, threads));
  }
  return contexts;
}

std::shared_ptr<const Dataset> RunOptions::load_data() const {
  DataOptions options{.kind = parse_data_kind(data), .folder = {}, .colour = make_model(model, depth).colour};
  if (data_dir) options.folder = *data_dir;
  return load_dataset(options);
}

void RunOptions::describe(nlohmann::ordered_json& flags) const {
  flags["model"] = model;
  if (model == "vgg") flags["depth"] = depth;
  flags["strategy"] = strategy;
  flags["data_parallel"] = data_parallel;
  flags["stages"] = stages;
  flags["batch_size"] = batch_size;
  flags["cut"] = cut;
  flags["device"] = device;
  flags["check"] = check;
  flags["backend"] = backend;
  flags["threads"] = threads;
  flags["seed"] = seed;
  flags["send_mode"] = send_mode;
  flags["order_seed"] = order_seed;
  flags["timeout"] = timeout;
  flags["message_delay"] = message_delay;
}

}  // namespace warpline::tools
