// Runs all blocks of a launch, spread over OS threads; blocks are independent of each other.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kernels/call_note.h"
#include "kernels/emu/block.h"
#include "kernels/stream.h"
#include "kernels/thread_pool.h"

namespace warpline::emu {

// Of dynamic shared memory, where a kernel was not allowed more.
constexpr std::size_t kSharedBytesUnasked = 48 * 1024;

// Sizes as the driver of compute capability 7.5 and later checks them: ValueError with the numbers and the
// limit.
void check_launch(std::string_view kernel, dim3 grid, dim3 block, std::size_t dynamic_shared_bytes,
                  std::size_t most_shared_bytes = kSharedBytesUnasked);

// KernelError of the block that comes first in the seed's order, whatever the number of OS threads.
void run_grid(const Launch& launch, ThreadPool& pool);

// Place `i` of the grid in the order of the launch's seed.
uint3 block_in_order(const Launch& launch, std::uint64_t i);

struct LaunchShape {
  std::string_view kernel;
  dim3 grid, block;
  std::size_t shared_bytes = 0;  // dynamic
  bool checked = false;          // the kernel was compiled for the checks
};

// A kernel with its parameters.
struct KernelCall {
  void (*run)(const void* parameters);
  std::shared_ptr<const void> parameters;
  std::size_t parameter_bytes;
  void operator()() const { run(parameters.get()); }
};

// Checks the sizes and puts the kernel on the stream; without a native stream it runs at once.
void enqueue(const LaunchShape& shape, const Stream& stream, KernelCall call);

// What enqueue puts on the stream.
struct Moment;
void run_launch(const LaunchShape& shape, const KernelCall& call, const Stream& stream, const Moment& moment,
                const kernels::CallNote& note);

// "scale<float>", out of what the compiler calls `function` with a template argument Kernel.
std::string_view cut_kernel_name(std::string_view function);

}  // namespace warpline::emu
