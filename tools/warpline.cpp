// The program `warpline`: one subcommand a file, listed here. The only place that turns errors into exit
// statuses.
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "kernels/emu/profile/environment.h"
#include "kernels/error.h"
#include "tools/commands.h"

namespace {

constexpr int kBadUse = 2;
constexpr int kFailed = 1;

// Names from files and flags may hold what would command a terminal, or be endless.
std::string printable(std::string_view text) {
  constexpr std::size_t kMost = 4000;
  std::string result;
  for (const char c : text.substr(0, kMost)) {
    const bool control = (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f;
    result += control ? fmt::format("\\x{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return text.size() > kMost ? result + "..." : result;
}

int report(std::string_view what, int status) {
  std::fputs(fmt::format("warpline: {}\n", printable(what)).c_str(), stderr);  // where it can be written
  return status;
}

// A file that the program opens must not take the place of a stream that is closed.
void open_missing_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) == -1) static_cast<void>(open("/dev/null", O_RDWR));
  }
}

int run(int argc, char** argv) {
  using namespace warpline::tools;
  constexpr void (*kCommands[])(Command) = {add_train,   add_infer, add_op,      add_doctor,
                                            add_profile, add_bench, add_schedule};
  try {
    if (warpline::emu::profile::wanted_by_environment()) warpline::emu::profile::record_until_exit();
    const bool understood = run_command_line("warpline: see how parallel training works, on any machine",
                                             WARPLINE_VERSION, kCommands, argc, argv);
    return understood ? 0 : kBadUse;
  } catch (const warpline::BadInput& error) {
    return report(error.what(), kBadUse);
  } catch (const std::bad_alloc&) {
    return report("[memory] out of memory", kFailed);
  } catch (const std::exception& error) {
    return report(error.what(), kFailed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_missing_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // writing beyond the limit is an error then, as on a full disk
  const int status = run(argc, argv);
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  return status == 0 && !written ? report("[output] standard output could not be written", kFailed) : status;
}
