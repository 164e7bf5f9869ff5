#include "kernels/emu/check/program.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
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

std::uintptr_t load_address() {
  static const std::uintptr_t address = [] {
    std::uintptr_t found = 0;
    visit_program([&](const dl_phdr_info& info) { found = info.dlpi_addr; });
    return found;
  }();
  return address;
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
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<Variable> found;
  if (bytes.size() < sizeof(ElfW(Ehdr))) return found;
  const auto& header = *reinterpret_cast<const ElfW(Ehdr)*>(bytes.data());
  const auto* sections = reinterpret_cast<const ElfW(Shdr)*>(bytes.data() + header.e_shoff);
  for (int i = 0; i < header.e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const char* const names = bytes.data() + sections[sections[i].sh_link].sh_offset;
    const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(bytes.data() + sections[i].sh_offset);
    for (std::size_t s = 0; s < sections[i].sh_size / sizeof(ElfW(Sym)); ++s) {
      if (ELF64_ST_TYPE(symbols[s].st_info) != type || symbols[s].st_size == 0) continue;
      found.push_back({demangled(names + symbols[s].st_name), symbols[s].st_value, symbols[s].st_size});
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  return found;
}

std::string ask_addr2line(CodeOffset offset) {
  const std::string command = fmt::format("addr2line -e /proc/{}/exe {:#x} 2>/dev/null", getpid(), offset);
  const std::unique_ptr<FILE, decltype(&pclose)> pipe(popen(command.c_str(), "r"), &pclose);
  std::array<char, 4096> line{};
  if (pipe == nullptr || std::fgets(line.data(), line.size(), pipe.get()) == nullptr) return "";
  std::string text(line.data());
  text.erase(text.find_last_not_of(" \n") + 1);
  if (const std::size_t more = text.find(" ("); more != std::string::npos)
    text.erase(more);  // a discriminator
  return text.find("??") == std::string::npos ? text : "";
}

// Build folders lie beside the sources: what is before the room's name says nothing.
std::string shortened(const std::string& place) {
  for (const char* room : {"kernels/", "tests/"}) {
    if (const std::size_t found = place.rfind(std::string("/") + room); found != std::string::npos) {
      return place.substr(found + 1);
    }
  }
  std::size_t begin = 0;
  while (place.compare(begin, 2, "./") == 0) begin += 2;  // the folder that it was compiled in
  return place.substr(begin);
}

}  // namespace

CodeOffset code_offset(const void* return_address) {
  // The call's own line is that of the byte before.
  return static_cast<CodeOffset>(reinterpret_cast<std::uintptr_t>(return_address) - 1 - load_address());
}

std::string source_line(CodeOffset offset) {
  static std::mutex mutex;
  static std::map<CodeOffset, std::string> known;
  const std::lock_guard lock(mutex);
  std::string& place = known[offset];
  if (place.empty()) place = shortened(ask_addr2line(offset));
  if (place.empty()) place = fmt::format("code offset {:#x}", offset);
  return place;
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
      if (!is_device_variable(address)) continue;
      variable.offset = static_cast<std::size_t>(address - device_section().begin);
      inside.push_back(std::move(variable));
    }
    return inside;
  }();
  return found;
}

bool is_program_data(const void* address) {
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
          wanted.found = wanted.found || (segment.p_type == PT_LOAD && wanted.address >= begin &&
                                          wanted.address < begin + segment.p_memsz);
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
