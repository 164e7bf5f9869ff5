// `warpline doctor`: what this build and this machine can do, and how to get what is missing.
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "tools/commands.h"

namespace warpline::tools {

void add_doctor(CLI::App& app) {
  CLI::App* doctor =
      app.add_subcommand("doctor", "devices, libraries and compilers: found, and what is missing");
  doctor->callback([] { fmt::print("cores: {}\n", std::thread::hardware_concurrency()); });
}

}  // namespace warpline::tools
