// The program `warpline`: one subcommand a file, listed here. The only place that turns errors into exit
// statuses.
#include <cstdio>
#include <exception>
#include <new>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "kernels/error.h"
#include "tools/commands.h"

namespace {

constexpr int kBadUse = 2;
constexpr int kFailed = 1;

int report(const char* what, int status) {
  fmt::print(stderr, "warpline: {}\n", what);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"warpline: see how parallel training works, on any machine"};
  app.require_subcommand(1);
  app.set_version_flag("--version", WARPLINE_VERSION);
  warpline::tools::add_train(app);
  warpline::tools::add_infer(app);
  warpline::tools::add_op(app);
  warpline::tools::add_doctor(app);
  warpline::tools::add_schedule(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadUse;  // --help and --version are "errors" with status 0
  } catch (const warpline::BadInput& error) {
    return report(error.what(), kBadUse);
  } catch (const std::bad_alloc&) {
    return report("[memory] out of memory", kFailed);
  } catch (const std::exception& error) {
    return report(error.what(), kFailed);
  }
}
