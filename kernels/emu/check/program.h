// What the running program's own file says: source lines of code addresses, and the shared memory of kernels,
// which is thread-local storage with a name and a size in the symbol table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace warpline::emu::check {

// A code address, relative to where the program was loaded. Fits the first 4 GiB.
using CodeOffset = std::uint32_t;
std::uintptr_t load_address();
// Of the call that returns there: its own line is that of the byte before.
inline CodeOffset code_offset(const void* return_address, std::uintptr_t loaded_at) {
  return static_cast<CodeOffset>(reinterpret_cast<std::uintptr_t>(return_address) - 1 - loaded_at);
}
inline CodeOffset code_offset(const void* return_address) {
  return code_offset(return_address, load_address());
}

// "kernels/cuda/gemm_3_shared_tile.cu:22"; where a call was inlined, the innermost place that is not
// the emulator's. Needs addr2line of
// binutils; without it, the offset.
std::string source_line(CodeOffset offset);

// The same for many at once, each with the line of the kernel first that what was inlined comes from:
// "kernels/cuda/gemm_2_coalesced.cu:18 > kernels/cuda/device/product.h:24".
std::vector<std::string> source_places(const std::vector<CodeOffset>& offsets);

// A path without what is before the room's name: build folders lie beside the sources.
std::string shortened(const std::string& place);

struct Variable {
  std::string name;  // demangled
  std::size_t offset = 0, bytes = 0;
};

// Of the main program, in the order of their offsets: thread-local ones, and those under `__device__`, from
// the first byte of their section.
const std::vector<Variable>& thread_locals();
const std::vector<Variable>& device_variables();

// Is it a constant of the main program, or of a library?
bool is_constant_data(const void* address);

// The calling thread's block of them.
struct ThreadLocalBlock {
  char* begin = nullptr;
  std::size_t bytes = 0;
};
ThreadLocalBlock thread_local_block();

}  // namespace warpline::emu::check
