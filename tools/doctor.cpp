// `warpline doctor`: what this build and this machine can do, and how to get what is missing.
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "kernels/cpu/simd/select.h"
#include "kernels/error.h"
#include "kernels/table.h"
#include "models/load_dataset.h"
#include "models/mnist.h"
#include "parallel/backends.h"
#include "parallel/schedule.h"
#include "tools/commands.h"
#include "tools/versions.h"

namespace warpline::tools {
namespace {

void print_devices() {
  std::map<DeviceKind, int> rows;
  for (const kernels::Row& row : kernels::table()) ++rows[row.target];
  fmt::print("devices\n");
  fmt::print("  ref        {:3} kernels, slow and obvious; float32 and float64\n", rows[DeviceKind::Ref]);
  fmt::print("  cpu        {:3} kernels, loops for {}; {} cores\n", rows[DeviceKind::Cpu],
             kernels::simd().name, std::thread::hardware_concurrency());
}

void print_data() {
  fmt::print("data\n");
  try {
    const std::shared_ptr<const Dataset> data = load_dataset({});
    fmt::print("  {}, {} training and {} test images\n", data->name, data->train.count(), data->test.count());
    if (data->name == "builtin")
      fmt::print("  MNIST was not found; tools/get_mnist fetches it into data/mnist\n");
  } catch (const BadInput& error) {
    fmt::print("  unusable: {}\n", error.what());
  }
}

void doctor() {
  fmt::print("warpline {}, built by {}\n", WARPLINE_VERSION, compiler_version());
  print_devices();
  fmt::print("libraries: compiled against, running\n");
  for (const LibraryVersion& library : library_versions()) {
    fmt::print("  {:<13} {:<9} {:<9} {}{}\n", library.name, library.compiled, library.running,
               library.purpose,
               library.compiled == library.running ? "" : "  (differ: rebuild against what is installed)");
  }
  fmt::print("back ends\n");
  for (const parallel::Backend& backend : parallel::backends()) {
    fmt::print("  {:<10} ranks are {}; {}\n", backend.name, backend.ranks, backend.devices);
  }
  fmt::print("schedules\n");
  for (const parallel::Schedule& schedule : parallel::schedules()) {
    fmt::print("  {:<10} {}\n", schedule.name, schedule.what);
  }
  print_data();
}

}  // namespace

void add_doctor(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("doctor", "devices, libraries, data: what is there, and how to get the rest");
  command->callback(doctor);
}

}  // namespace warpline::tools
