// A program of emu-nvcc holds itself a second time, compiled for the checks, in a section of its file.
// WARPLINE_CHECK=1 or WARPLINE_PROFILE=1 run that one, before anything else of the program.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/emu/cuda_runtime/state.h"
#include "kernels/emu/environment.h"
#include "kernels/emu/profile/environment.h"

namespace warpline::cuda {

namespace {

bool checks_are_wanted() {
  try {
    const bool checks = emu::is_switched_on("WARPLINE_CHECK"), counts = emu::profile::wanted_by_environment();
    return checks || counts;
  } catch (const ValueError& error) {
    fmt::print(stderr, "{}\n", error.what());
    _exit(2);
  }
}

// Of the running program's own file; empty: there is none.
std::string_view section(const std::vector<char>& file, std::string_view name) {
  const auto& header = *reinterpret_cast<const ElfW(Ehdr)*>(file.data());
  const auto* const sections = reinterpret_cast<const ElfW(Shdr)*>(file.data() + header.e_shoff);
  const char* const names = file.data() + sections[header.e_shstrndx].sh_offset;
  for (int i = 0; i < header.e_shnum; ++i) {
    if (names + sections[i].sh_name == name)
      return {file.data() + sections[i].sh_offset, sections[i].sh_size};
  }
  return {};
}

// 101 to 65535: before the program's own static objects.
__attribute__((constructor(101))) void start(int, char** arguments, char** environment) {
  if (!checks_are_wanted()) return;
  std::ifstream self("/proc/self/exe", std::ios::binary);
  const std::vector<char> file{std::istreambuf_iterator<char>(self), {}};
  const std::string_view program = section(file, ".warpline_checked");
  if (program.empty()) return;  // this is the checked one
  const int memory = memfd_create("checked", MFD_CLOEXEC);
  if (memory < 0 || write(memory, program.data(), program.size()) != static_cast<ssize_t>(program.size())) {
    std::perror("[emu] no memory for the checked program");
    _exit(1);
  }
  fexecve(memory, arguments, environment);
  std::perror("[emu] the checked program does not start");
  _exit(1);
}

}  // namespace

bool checked() {
  static const bool wanted = checks_are_wanted();
  return wanted;
}

}  // namespace warpline::cuda
