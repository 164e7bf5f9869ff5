#include "kernels/emu/check/program.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include <cxxabi.h>
#include <elf.h>
#include <fmt/core.h>
#include <link.h>
#include <unistd.h>

#include "kernels/emu/device_variables.h"

namespace warpline::emu::check {

namespace {

// dl_iterate_phdr tells the main program first.
template <class Visit>
void visit_program(Visit visit) {
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        (*static_cast<Visit*>(data))(*info);
        return 1;
      },
      &visit);
}

std::string demangled(const char* name) {
  if (std::strncmp(name, "_Z", 2) != 0) return name;  // "m" is a type's name otherwise
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? text.get() : name;
}

// The offset is what the symbol table tells as the value.
std::vector<Variable> read_symbols(unsigned type) {
  std::ifstream file("/proc/self/exe", std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  std::vector<Variable> found;
  if (size < static_cast<std::streamoff>(sizeof(ElfW(Ehdr)))) return found;
  const auto bytes = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(size));
  file.seekg(0).read(bytes.get(), size);
  if (!file) return found;
  const auto& header = *reinterpret_cast<const ElfW(Ehdr)*>(bytes.get());
  const auto* sections = reinterpret_cast<const ElfW(Shdr)*>(bytes.get() + header.e_shoff);
  for (int i = 0; i < header.e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const char* const names = bytes.get() + sections[sections[i].sh_link].sh_offset;
    const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(bytes.get() + sections[i].sh_offset);
    for (std::size_t s = 0; s < sections[i].sh_size / sizeof(ElfW(Sym)); ++s) {
      if (ELF64_ST_TYPE(symbols[s].st_info) != type || symbols[s].st_size == 0) continue;
      found.push_back({demangled(names + symbols[s].st_name), symbols[s].st_value, symbols[s].st_size});
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  return found;
}

// What addr2line says of each offset: the lines of the calls that were inlined there, innermost first. Empty
// where it knows nothing.
std::vector<std::vector<std::string>> ask_addr2line(const std::vector<CodeOffset>& offsets) {
  std::vector<std::vector<std::string>> answers(offsets.size());
  std::string command = fmt::format("addr2line -a -i -e /proc/{}/exe", getpid());
  for (const CodeOffset offset : offsets) command += fmt::format(" {:#x}", offset);
  const std::unique_ptr<FILE, decltype(&pclose)> pipe(popen((command + " 2>/dev/null").c_str(), "r"),
                                                      &pclose);
  if (pipe == nullptr) return answers;
  std::array<char, 4096> line{};
  for (std::size_t next = 0; std::fgets(line.data(), line.size(), pipe.get()) != nullptr;) {
    std::string text(line.data());
    if (text.rfind("0x", 0) == 0) {  // an offset; its lines follow
      ++next;
      continue;
    }
    text.erase(text.find_last_not_of(" \n") + 1);
    if (const std::size_t more = text.find(" ("); more != std::string::npos)
      text.erase(more);  // a discriminator
    if (text.find('?') == std::string::npos && next > 0) answers[next - 1].push_back(shortened(text));
  }
  return answers;
}

bool is_of_the_emulator(const std::string& line) {
  return line.rfind("kernels/emu/", 0) == 0 || line.rfind("/usr/", 0) == 0 ||
         line.rfind("kernels/function_ref", 0) == 0;
}

}  // namespace

std::string shortened(const std::string& place) {
  for (const char* room : {"kernels/", "tests/"}) {
    if (place.rfind(room, 0) == 0) return place;
    if (const std::size_t found = place.rfind(std::string("/") + room); found != std::string::npos) {
      return place.substr(found + 1);
    }
  }
  std::size_t begin = 0;
  while (place.compare(begin, 2, "./") == 0) begin += 2;  // the folder that it was compiled in
  return place.substr(begin);
}

std::uintptr_t load_address() {
  static const std::uintptr_t address = [] {
    std::uintptr_t found = 0;
    visit_program([&](const dl_phdr_info& info) { found = info.dlpi_addr; });
    return found;
  }();
  return address;
}

std::string source_line(CodeOffset offset) {
  static std::mutex mutex;
  static std::map<CodeOffset, std::string> known;
  const std::lock_guard lock(mutex);
  std::string& place = known[offset];
  if (place.empty()) {
    const std::vector<std::string> lines = ask_addr2line({offset}).front();
    // atomicAdd and its like are the emulator's: their caller is meant.
    const auto line = std::find_if_not(lines.begin(), lines.end(), is_of_the_emulator);
    place = line != lines.end() ? *line
            : lines.empty()     ? fmt::format("code offset {:#x}", offset)
                                : lines.front();
  }
  return place;
}

std::vector<std::string> source_places(const std::vector<CodeOffset>& offsets) {
  constexpr std::size_t kAtOnce = 1000;  // a command line is not endless
  std::vector<std::string> places;
  for (std::size_t begin = 0; begin < offsets.size(); begin += kAtOnce) {
    const std::vector<CodeOffset> some(
        offsets.begin() + static_cast<std::ptrdiff_t>(begin),
        offsets.begin() + static_cast<std::ptrdiff_t>(std::min(begin + kAtOnce, offsets.size())));
    const auto answers = ask_addr2line(some);
    for (std::size_t i = 0; i < some.size(); ++i) {
      std::vector<std::string> lines = answers[i];
      lines.erase(std::remove_if(lines.begin(), lines.end(), is_of_the_emulator), lines.end());
      if (lines.empty()) {
        places.push_back(fmt::format("code offset {:#x}", some[i]));
      } else {
        places.push_back(lines.size() == 1 ? lines.back() : lines.back() + " > " + lines.front());
      }
    }
  }
  return places;
}

const std::vector<Variable>& thread_locals() {
  static const std::vector<Variable> found = read_symbols(STT_TLS);
  return found;
}

const std::vector<Variable>& device_variables() {
  static const std::vector<Variable> found = [] {
    std::vector<Variable> inside;
    for (Variable& variable : read_symbols(STT_OBJECT)) {
      const auto* const address = reinterpret_cast<const char*>(load_address() + variable.offset);
      if (!is_device_variable(address) || variable.name.rfind("warpline_gap_", 0) == 0) continue;
      variable.offset = static_cast<std::size_t>(address - device_section().begin);
      inside.push_back(std::move(variable));
    }
    return inside;
  }();
  return found;
}

bool is_constant_data(const void* address) {
  struct Search {
    std::uintptr_t address;
    bool found;
  } search{reinterpret_cast<std::uintptr_t>(address), false};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[i];
          const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
          const bool constant =
              (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) == 0) || segment.p_type == PT_GNU_RELRO;
          wanted.found = wanted.found ||
                         (constant && wanted.address >= begin && wanted.address < begin + segment.p_memsz);
        }
        return wanted.found ? 1 : 0;
      },
      &search);
  return search.found;
}

ThreadLocalBlock thread_local_block() {
  ThreadLocalBlock block;
  visit_program([&](const dl_phdr_info& info) {
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      if (info.dlpi_phdr[i].p_type != PT_TLS) continue;
      block = {static_cast<char*>(info.dlpi_tls_data), info.dlpi_phdr[i].p_memsz};
    }
  });
  return block;
}

}  // namespace warpline::emu::check
