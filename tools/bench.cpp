// `warpline bench kernels`: how fast every row of the kernel table is on a device, once it is known to be
// right.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/context.h"
#include "engine/file.h"
#include "kernels/cuda/support.h"
#include "kernels/error.h"
#include "kernels/table.h"
#include "tools/commands.h"
#include "tools/device_choice.h"
#include "tools/kernel_bench.h"
#include "tools/kernel_check.h"
#include "tools/kernel_choice.h"
#include "tools/kernel_problems.h"
#include "tools/peers/peer.h"
#include "tools/progress.h"
#include "tools/require.h"
#include "tools/results.h"

namespace warpline::tools {
namespace {

constexpr std::size_t kQuickShapes = 2;

struct BenchOptions {
  std::vector<std::string> kernels;
  std::string device = "cpu", shape, json;
  double min_time = 0.1;
  int threads = 0;
  std::uint64_t seed = 1;
  bool quick = false;
};

struct Case {
  KernelChoice kernel;
  std::string shape;
};

// Shapes of the kernels that were named, or of all.
std::vector<Case> cases_of(const BenchOptions& options, DeviceKind target) {
  std::vector<KernelChoice> choices;
  for (const std::string& kernel : options.kernels) choices.push_back(parse_kernel(kernel, target));
  if (choices.empty()) {
    for (const std::string_view op : problem_ops()) choices.push_back({std::string(op), ""});
  }
  if (!options.shape.empty()) {
    if (choices.size() != 1)
      fail<ValueError>("--shape", "the sizes of one op; name it, as in 'warpline bench kernels gemm'");
    static_cast<void>(make_problem(choices.front().op, options.shape));  // refused before anything is printed
  }
  std::vector<Case> cases;
  for (const KernelChoice& choice : choices) {
    std::vector<std::string> shapes = problem_shapes(choice.op);
    if (!options.shape.empty()) {
      shapes = {options.shape};
    } else if (options.quick) {
      shapes.resize(std::min(shapes.size(), kQuickShapes));
    }
    for (std::string& shape : shapes) cases.push_back({choice, std::move(shape)});
  }
  return cases;
}

std::string about(Device device, int threads) {
  switch (device.kind) {
    case DeviceKind::Ref:
      return "ref: slow and obvious, the definition of each op, one thread";
    case DeviceKind::Cpu:
      return fmt::format("{}, threads: {}", to_string(device), threads);
    case DeviceKind::Cuda:
      return fmt::format("{}, {}", to_string(device),
                         cuda::support().gpus.at(static_cast<std::size_t>(device.index)));
    case DeviceKind::Emu:
    case DeviceKind::EmuChecked:
      return fmt::format(
          "{}, threads of this machine: {}. These times are the emulator's own: they say nothing about a GPU",
          to_string(device), threads);
  }
  return to_string(device);
}

// The libraries to compare with, on a GPU; says which are missing.
std::vector<std::unique_ptr<Peer>> open_peers(const Stream& stream) {
  std::vector<std::unique_ptr<Peer>> peers;
  if (stream.device.kind != DeviceKind::Cuda) return peers;
  for (const auto open : {open_cublas, open_cudnn}) {
    try {
      peers.push_back(open(stream));
      fmt::print("compared with {}\n", peers.back()->name());
    } catch (const DeviceError& error) {
      fmt::print("{}\n", error.what());
    }
  }
  return peers;
}

struct Results {
  std::vector<Measurement> measurements;
  std::size_t rows = 0, rows_measured = 0;  // of the table, of those asked for
  std::vector<std::string> unsuited;        // rows that are for none of the shapes
};

Results run(const BenchOptions& options, const std::vector<Case>& cases, const Stream& stream) {
  const std::vector<std::unique_ptr<Peer>> peers = open_peers(stream);
  const double min_seconds = options.quick ? 0 : options.min_time;
  Results results;
  std::vector<std::pair<const kernels::Row*, bool>> rows;  // was it measured?
  Progress progress("checking and timing", static_cast<std::int64_t>(cases.size()), 1, "shapes");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Problem problem = make_problem(cases[i].kernel.op, cases[i].shape, options.seed);
    const Outputs expected = reference_outputs(problem);
    const auto add = [&](std::string_view variant, bool is_peer, const Call& call) {
      Measurement measurement = measure(problem, expected, stream, call, min_seconds);
      measurement.variant = variant;
      measurement.peer = is_peer;
      results.measurements.push_back(std::move(measurement));
    };
    for (const kernels::Row& row : kernels::table()) {
      if (!cases[i].kernel.takes(row) || row.target != stream.device.kind || row.dtype != problem.dtype)
        continue;
      const bool suits = row.supports == nullptr || row.supports(problem.args.get());
      const auto known =
          std::find_if(rows.begin(), rows.end(), [&](const auto& entry) { return entry.first == &row; });
      if (known == rows.end()) {
        rows.emplace_back(&row, suits);
      } else {
        known->second |= suits;
      }
      if (!suits) continue;
      add(row.variant, false, [&](const auto& pointers) { problem.run(row, pointers, stream); });
    }
    for (const auto& peer : peers) {
      if (const Call call = peer->prepare(problem); call != nullptr) add(peer->name(), true, call);
    }
    progress.update(static_cast<std::int64_t>(i) + 1, cases[i].kernel.op);
  }
  results.rows = rows.size();
  for (const auto& [row, measured] : rows) {
    if (measured) {
      ++results.rows_measured;
    } else {
      results.unsuited.push_back(fmt::format("{}/{}", row->op, row->variant));
    }
  }
  return results;
}

std::string duration(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.3f} ms", seconds * 1e3) : fmt::format("{:.3f} s", seconds);
}

std::string table(const std::vector<Measurement>& measurements) {
  std::size_t name = 6, shape = 5;
  for (const Measurement& m : measurements) {
    name = std::max(name, m.op.size() + 1 + m.variant.size());
    shape = std::max(shape, m.shape.size());
  }
  std::string text = fmt::format("{:<{}}  {:<{}}{:>12}{:>10}{:>10}{:>10}\n", "kernel", name, "shape", shape,
                                 "median", "GFLOP/s", "GB/s", "repeats");
  for (const Measurement& m : measurements) {
    text += fmt::format("{:<{}}  {:<{}}", m.op + "/" + m.variant, name, m.shape, shape);
    if (!m.wrong.empty()) {
      text += fmt::format("  WRONG: {}\n", m.wrong);
      continue;
    }
    const std::string flops = m.flops == 0 ? "-" : fmt::format("{:.2f}", m.flops_per_second() / 1e9);
    text += fmt::format("{:>12}{:>10}{:>10.2f}{:>10}\n", duration(m.seconds), flops,
                        m.bytes_per_second() / 1e9, m.repeats);
  }
  return text;
}

nlohmann::ordered_json to_json(const Results& results, const BenchOptions& options, Device device,
                               int threads) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Measurement& m : results.measurements) {
    nlohmann::ordered_json json{{"op", m.op},       {"variant", m.variant},     {"peer", m.peer},
                                {"shape", m.shape}, {"right", m.wrong.empty()}, {"flops", m.flops},
                                {"bytes", m.bytes}};
    if (m.wrong.empty()) {
      json["seconds"] = m.seconds;
      json["repeats"] = m.repeats;
      json["calls_per_repeat"] = m.calls;
      json["flops_per_second"] = m.flops_per_second();
      json["bytes_per_second"] = m.bytes_per_second();
    } else {
      json["difference"] = m.wrong;
    }
    list.push_back(std::move(json));
  }
  return {{"device", to_string(device)},
          {"about", about(device, threads)},
          {"threads", threads},
          {"seed", options.seed},
          {"rows", results.rows},
          {"rows_measured", results.rows_measured},
          {"kernels", list},
          {"versions", versions()}};
}

void run_bench(const BenchOptions& options, bool threads_given) {
  const Device device = choose_device(options.device, false);
  const std::vector<Case> cases = cases_of(options, device.kind);
  require_positive("--min-time", options.min_time);
  require_at_most("--min-time", options.min_time, 60.0);
  int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (threads_given) {
    require_at_least_one("--threads", options.threads);
    require_at_most("--threads", options.threads, 1024);
    threads = options.threads;
  }
  if (!options.json.empty()) check_writable(options.json);
  const Context context(device, threads);
  fmt::print("{}\nseed {}; each result is compared with ref before it is timed\n",
             about(context.device(), threads), options.seed);
  const Results results = run(options, cases, context.stream());
  fmt::print("\n{}\n{} of {} rows, {} results", table(results.measurements), results.rows_measured,
             results.rows, results.measurements.size());
  fmt::print("{}\n", results.unsuited.empty()
                         ? ""
                         : fmt::format("; not for these shapes: {}", fmt::join(results.unsuited, ", ")));
  if (!options.json.empty()) write_json(options.json, to_json(results, options, context.device(), threads));
  for (const Measurement& m : results.measurements) {
    if (!m.wrong.empty())
      fail<Failure>("bench", "{}/{} at {} is wrong: {}", m.op, m.variant, m.shape, m.wrong);
  }
}

}  // namespace

void add_bench(Command program) {
  const auto options = std::make_shared<BenchOptions>();
  const Command bench = program.add_command("bench", "how fast this machine is");
  bench.require_command();
  const Command kernels = bench.add_command(
      "kernels",
      "Checks every row of the kernel table against ref at several shapes, then times it: the median of "
      "repeats, floating-point operations a second, and bytes a second, each byte counted once. Operands "
      "stay in a cache where they fit. On cuda with cuBLAS and cuDNN beside it, where the build found them.");
  kernels.add_option(
      "kernels", options->kernels,
      "ops, as in gemm, or variants of them, as in gemm/naive; default: all ('warpline profile --list')");
  kernels.add_option("--device", options->device, "cpu, ref, emu or cuda");
  kernels.add_option("--shape", options->shape, "sizes for the one op that is named, as in 128x128x128");
  kernels.add_option("--min-time", options->min_time, "seconds to repeat each");
  kernels.add_flag("--quick", options->quick, "small shapes, once each: is every row right?");
  const Flag threads =
      kernels.add_option("--threads", options->threads, "CPU threads, for cpu and emu; default: all cores")
          .default_text("auto");
  kernels.add_option("--seed", options->seed, "of the random data");
  kernels.add_option("--json", options->json, "write the results to this file");
  kernels.on_run([=] { run_bench(*options, threads.given()); });
}

}  // namespace warpline::tools
