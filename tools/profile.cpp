// `warpline profile`: what the CUDA kernels of an op, or of a training step, ask of a GPU, counted on the
// emulator.
#include "kernels/emu/profile/profile.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/context.h"
#include "engine/file.h"
#include "kernels/call_note.h"
#include "kernels/cuda/resources.h"
#include "kernels/emu/profile/table.h"
#include "kernels/error.h"
#include "kernels/runtime.h"
#include "tools/commands.h"
#include "tools/device_operands.h"
#include "tools/kernel_choice.h"
#include "tools/kernel_problems.h"
#include "tools/profile_step.h"
#include "tools/require.h"
#include "tools/results.h"
#include "tools/roofline.h"

namespace warpline::tools {
namespace {

using emu::profile::Counts;
using emu::profile::KernelProfile;
using emu::profile::Recording;

struct ProfileOptions {
  std::vector<std::string> kernels;
  std::string shape, model, gpu = "a100", json;
  std::int64_t batch_size = 64;
  bool source = false, resources = false, list = false;
};

constexpr Device kDevice{DeviceKind::EmuChecked, 0};

const Gpu& find_gpu(const std::string& name) {
  std::vector<std::string> names;
  for (const Gpu& gpu : gpus()) {
    if (gpu.name == name) return gpu;
    names.push_back(gpu.name);
  }
  fail<ValueError>("--gpu", "no GPU is called '{}'; there are {}", name, fmt::join(names, ", "));
}

// Ops that stand in one table have sizes of the same meaning.
std::vector<KernelChoice> parse_choices(const std::vector<std::string>& kernels) {
  if (kernels.empty())
    fail<ValueError>("profile", "name a kernel, as in 'warpline profile gemm'; --list has them all");
  std::vector<KernelChoice> choices;
  for (const std::string& kernel : kernels) {
    choices.push_back(parse_kernel(kernel, kDevice.kind));
    const auto legend = shape_legend(choices.back().op), first = shape_legend(choices.front().op);
    if (legend != first) {
      fail<ValueError>("profile", "{} takes {}, {} takes {}; profile them one at a time", choices.front().op,
                       first, choices.back().op, legend);
    }
  }
  return choices;
}

std::vector<KernelProfile> profile_op(const KernelChoice& choice, const std::string& shape) {
  const Problem problem = make_problem(choice.op, shape);
  const Context context(kDevice);
  const Stream stream = context.stream();
  std::vector<KernelProfile> profiles;
  Recording recording;
  for (const kernels::Row& row : kernels::table()) {
    if (!choice.takes(row) || row.target != kDevice.kind || row.dtype != problem.dtype) continue;
    if (row.supports != nullptr && !row.supports(problem.args.get())) {
      fmt::print("{}/{} is not for this shape\n", row.op, row.variant);
      continue;
    }
    const DeviceOperands operands(problem, stream);
    kernels::leave_note({row.op, row.variant, row.flops(problem.args.get())});
    problem.run(row, operands.pointers(), stream);
    runtime(kDevice.kind).synchronize(stream);
    for (KernelProfile& profile : recording.take()) profiles.push_back(std::move(profile));
  }
  return profiles;
}

std::string title(const KernelProfile& profile) {
  return profile.op.empty() ? profile.kernel : fmt::format("{}/{}", profile.op, profile.variant);
}

// Size, operations and bytes, and how fast the GPU could be at best.
std::string roofline_table(const std::vector<KernelProfile>& profiles, const Gpu& gpu) {
  std::size_t width = 6;
  for (const KernelProfile& profile : profiles) width = std::max(width, title(profile).size());
  std::string text =
      fmt::format("{:<{}}{:>8}{:>9}{:>12}{:>12}{:>12}{:>12}  at most on {}\n", "kernel", width, "blocks",
                  "threads", "MFLOP", "MB touched", "MB moved", "FLOP/byte", gpu.name);
  for (const KernelProfile& profile : profiles) {
    const auto touched = static_cast<double>(profile.bytes_touched),
               moved = static_cast<double>(profile.bytes_moved());
    const double best = roofline(gpu, profile.flops, touched), worst = roofline(gpu, profile.flops, moved);
    text += fmt::format("{:<{}}{:>8}{:>9}{:>12.3f}{:>12.3f}{:>12.3f}", title(profile), width, profile.blocks,
                        profile.threads, profile.flops / 1e6, touched / 1e6, moved / 1e6);
    if (profile.flops == 0 || touched == 0) {
      text += fmt::format("{:>12}\n", "-");
      continue;
    }
    text += fmt::format("{:>12.2f}  {:.0f} GFLOP/s by {}; {:.0f} without a cache\n", profile.flops / touched,
                        best / 1e9, best < gpu.flops ? "its memory" : "its arithmetic", worst / 1e9);
  }
  return text;
}

// Null: nvcc compiled no kernel of that name for the GPU.
const cuda::KernelResources* find_resources(const KernelProfile& profile, const Gpu& gpu) {
  for (const cuda::KernelResources& one : cuda::kernel_resources()) {
    if (one.kernel == profile.kernel && one.compute_capability == gpu.compute_capability) return &one;
  }
  return nullptr;
}

// Per cent, for the blocks that were launched.
int occupancy(const cuda::KernelResources& resources, const KernelProfile& profile) {
  const std::uint64_t warps = (profile.threads / profile.blocks + 31) / 32;
  return resources.occupancy.at(warps - 1);
}

std::string resources_table(const std::vector<KernelProfile>& profiles, const Gpu& gpu) {
  std::size_t width = 6;
  for (const KernelProfile& profile : profiles) width = std::max(width, profile.kernel.size());
  std::string text =
      fmt::format("{:<{}}{:>12}{:>14}{:>12}\n", "kernel", width, "registers", "shared bytes", "occupancy");
  bool any = false;
  for (const KernelProfile& profile : profiles) {
    const cuda::KernelResources* const resources = find_resources(profile, gpu);
    any = any || resources != nullptr;
    text += resources == nullptr
                ? fmt::format("{:<{}}{:>12}{:>14}{:>12}\n", profile.kernel, width, "-", "-", "-")
                : fmt::format("{:<{}}{:>12}{:>14}{:>10} %\n", profile.kernel, width, resources->registers,
                              resources->shared_bytes, occupancy(*resources, profile));
  }
  if (any) return text;
  return fmt::format(
      "registers, shared memory and occupancy: nvcc compiled no kernel for the {}; configure "
      "with -Dcuda=enabled -Dcuda-arch={}\n",
      gpu.name, gpu.compute_capability);
}

nlohmann::ordered_json to_json(const Counts& counts) {
  using emu::profile::Direction;
  using emu::profile::Space;
  nlohmann::ordered_json json;
  const auto add = [&](const char* name, Space space, Direction direction) {
    const auto& traffic = counts.of(space, direction);
    json[name] = {{"requests", traffic.requests},
                  {space == Space::Global ? "sectors" : "wavefronts", traffic.parts},
                  {"bytes", traffic.bytes}};
  };
  add("global_loads", Space::Global, Direction::Load);
  add("global_stores", Space::Global, Direction::Store);
  add("global_atomics", Space::Global, Direction::Atomic);
  add("shared_loads", Space::Shared, Direction::Load);
  add("shared_stores", Space::Shared, Direction::Store);
  add("shared_atomics", Space::Shared, Direction::Atomic);
  json["barriers"] = counts.barriers;
  json["divergent_branches"] = counts.divergent;
  return json;
}

nlohmann::ordered_json to_json(const std::vector<KernelProfile>& profiles, const Gpu& gpu) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const KernelProfile& profile : profiles) {
    nlohmann::ordered_json json{{"op", profile.op},
                                {"variant", profile.variant},
                                {"kernel", profile.kernel},
                                {"launches", profile.launches},
                                {"blocks", profile.blocks},
                                {"threads", profile.threads},
                                {"flops", profile.flops},
                                {"bytes_touched", profile.bytes_touched},
                                {"bytes_moved", profile.bytes_moved()}};
    json["bound_flops_per_second"] = roofline(gpu, profile.flops, static_cast<double>(profile.bytes_touched));
    if (const cuda::KernelResources* const resources = find_resources(profile, gpu)) {
      json["registers"] = resources->registers;
      json["shared_bytes"] = resources->shared_bytes;
      json["spilled_bytes"] = resources->spilled_bytes;
      json["occupancy_percent"] = occupancy(*resources, profile);
    }
    json["total"] = to_json(profile.total);
    for (const auto& [line, counts] : profile.lines) json["lines"][line] = to_json(counts);
    list.push_back(std::move(json));
  }
  return {{"gpu", gpu.name}, {"kernels", list}, {"versions", versions()}};
}

void print_list() {
  for (const std::string_view op : problem_ops()) {
    std::vector<std::string_view> variants;
    for (const kernels::Row& row : kernels::table()) {
      if (row.op == op && row.target == kDevice.kind &&
          (row.dtype == DType::Float32 || op == "max_pool2d_indices"))
        variants.push_back(row.variant);
    }
    fmt::print("{}: {}; --shape {}\n", op, fmt::join(variants, ", "), shape_legend(op));
  }
}

std::vector<KernelProfile> profile_model(const ProfileOptions& options) {
  if (!options.kernels.empty() || !options.shape.empty())
    fail<ValueError>("--model", "is profiled as a whole; leave out the kernel and --shape, or --model");
  require_at_least_one("--batch-size", options.batch_size);
  std::vector<KernelProfile> profiles = profile_training_step(options.model, options.batch_size);
  std::uint64_t launches = 0;
  double flops = 0, touched = 0;
  for (const KernelProfile& profile : profiles) {
    launches += profile.launches;
    flops += profile.flops;
    touched += static_cast<double>(profile.bytes_touched);
  }
  fmt::print(
      "one training step of {} on {} images, float32: {} launches, {:.3f} MFLOP, {:.3f} MB touched.\n"
      "Sectors and wavefronts are those of a request.\n\n",
      options.model, options.batch_size, launches, flops / 1e6, touched / 1e6);
  return profiles;
}

std::vector<KernelProfile> profile_kernels(const ProfileOptions& options) {
  const std::vector<KernelChoice> choices = parse_choices(options.kernels);
  const std::string shape =
      options.shape.empty() ? problem_shapes(choices.front().op).front() : options.shape;
  std::vector<KernelProfile> profiles;
  for (const KernelChoice& choice : choices) {
    for (KernelProfile& profile : profile_op(choice, shape)) profiles.push_back(std::move(profile));
  }
  fmt::print("{}, {} = {}. Sectors and wavefronts are those of a request.\n\n",
             fmt::join(options.kernels, ", "), shape_legend(choices.front().op), shape);
  return profiles;
}

void run_profile(const ProfileOptions& options) {
  if (options.list) return print_list();
  const Gpu& gpu = find_gpu(options.gpu);
  if (!options.json.empty()) check_writable(options.json);
  const std::vector<KernelProfile> profiles =
      options.model.empty() ? profile_kernels(options) : profile_model(options);
  fmt::print("{}\n{}", kernel_table(profiles), roofline_table(profiles, gpu));
  if (options.resources) fmt::print("\n{}", resources_table(profiles, gpu));
  if (options.source) {
    for (const KernelProfile& profile : profiles) fmt::print("\n{}", line_table(profile));
  }
  if (!options.json.empty()) write_json(options.json, to_json(profiles, gpu));
}

}  // namespace

void add_profile(Command program) {
  const auto options = std::make_shared<ProfileOptions>();
  const Command command = program.add_command(
      "profile",
      "Counts what the CUDA kernels of an op, or of a model's training step, ask of a GPU: requests to "
      "memory and the sectors or wavefronts that each costs, barriers, branches at which the lanes of a warp "
      "part. No GPU is needed: the kernels run on the emulator, and the same command gives the same counts.");
  command.add_option("kernels", options->kernels, "ops, as in gemm, or variants of them, as in gemm/naive");
  command.add_option("--shape", options->shape,
                     "sizes, as in 128x128x128; --list tells what they are. Of gemm also 128x128x128-nt, b "
                     "transposed, -tn, a transposed, or -tt");
  const Flag model = command.add_option("--model", options->model,
                                        "in place of kernels: one training step of net, mlp or vgg");
  command.add_option("--batch-size", options->batch_size, "images of the step").needs(model);
  command.add_option("--gpu", options->gpu, "whose peaks bound the speed: t4, a100, l4, rtx4090, h100, h200");
  command.add_flag("--source", options->source, "counts of each line of the kernels' source as well");
  command.add_flag("--resources", options->resources,
                   "registers, shared memory and occupancy too, as nvcc compiled the kernels for that GPU");
  command.add_flag("--list", options->list, "all ops with their variants and sizes");
  command.add_option("--json", options->json, "write all counts to this file");
  command.on_run([options] { run_profile(*options); });
}

}  // namespace warpline::tools
