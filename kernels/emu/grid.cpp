#include "kernels/emu/grid.h"

#include <atomic>
#include <exception>
#include <mutex>

#include "kernels/call_note.h"
#include "kernels/emu/check/run_checked.h"
#include "kernels/emu/order.h"
#include "kernels/emu/patience.h"
#include "kernels/emu/queue.h"

namespace warpline::emu {

namespace {

// CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability".
constexpr dim3 kMostThreads(1024, 1024, 64);
constexpr std::uint64_t kMostThreadsOfBlock = 1024;
constexpr dim3 kMostBlocks(2147483647, 65535, 65535);

void check_size(std::string_view kernel, std::string_view what, dim3 size, dim3 most) {
  const bool positive = size.x != 0 && size.y != 0 && size.z != 0;
  if (positive && size.x <= most.x && size.y <= most.y && size.z <= most.z) return;
  fail<ValueError>("emu", "launch of {}: the {} must be from 1 x 1 x 1 to {} x {} x {}; it is {} x {} x {}",
                   kernel, what, most.x, most.y, most.z, size.x, size.y, size.z);
}

}  // namespace

void check_launch(std::string_view kernel, dim3 grid, dim3 block, std::size_t dynamic_shared_bytes,
                  std::size_t most_shared_bytes) {
  check_size(kernel, "grid", grid, kMostBlocks);
  check_size(kernel, "block", block, kMostThreads);
  if (block.count() > kMostThreadsOfBlock) {
    fail<ValueError>("emu", "launch of {}: a block has at most {} threads; {} x {} x {} are {}", kernel,
                     kMostThreadsOfBlock, block.x, block.y, block.z, block.count());
  }
  if (dynamic_shared_bytes > most_shared_bytes) {
    fail<ValueError>("emu",
                     "launch of {}: a block has at most {} bytes of dynamic shared memory; {} were asked for",
                     kernel, most_shared_bytes, dynamic_shared_bytes);
  }
}

uint3 block_in_order(const Launch& launch, std::uint64_t i) {
  const dim3& grid = launch.grid;
  const std::uint64_t at = place_in_order(i, grid.count(), launch.seed);
  return {static_cast<unsigned>(at % grid.x), static_cast<unsigned>(at / grid.x % grid.y),
          static_cast<unsigned>(at / grid.x / grid.y)};
}

void run_grid(const Launch& launch, ThreadPool& pool) {
  const std::uint64_t blocks = launch.grid.count();
  constexpr std::uint64_t kMostPieces = 256;
  const auto pieces = static_cast<std::int64_t>(std::min(blocks, kMostPieces));
  std::mutex mutex;
  std::exception_ptr error;
  std::atomic<std::uint64_t> failed_at = blocks;
  pool.run(pieces, [&](std::int64_t piece, int) {
    const auto share = static_cast<std::uint64_t>(piece), of = static_cast<std::uint64_t>(pieces);
    const std::uint64_t begin = blocks / of * share + std::min(share, blocks % of);
    const std::uint64_t end = begin + blocks / of + (share < blocks % of ? 1 : 0);
    for (std::uint64_t i = begin; i < end && i < failed_at; ++i) {
      try {
        Block::of_this_thread().run(launch, block_in_order(launch, i));
      } catch (const KernelError&) {
        const std::scoped_lock lock(mutex);
        if (i < failed_at) {
          failed_at = i;
          error = std::current_exception();
        }
      }
    }
  });
  if (error) std::rethrow_exception(error);
}

void enqueue(const LaunchShape& shape, const Stream& stream, KernelCall call) {
  check_launch(shape.kernel, shape.grid, shape.block, shape.shared_bytes);
  look_after_kernels();
  const kernels::CallNote note = shape.checked ? kernels::take_note() : kernels::CallNote{};
  put(stream, [shape, stream, note, call = std::move(call)](const Moment& moment) {
    run_launch(shape, call, stream, moment, note);
  });
}

void run_launch(const LaunchShape& shape, const KernelCall& call, const Stream& stream, const Moment& moment,
                const kernels::CallNote& note) {
  Launch launch{shape.kernel, shape.grid, shape.block, shape.shared_bytes, order_seed(), call};
  if (shape.checked) {
    check::run_checked(launch, call, stream.device.index, moment, note);
  } else {
    run_grid(launch, *stream.pool);
  }
}

std::string_view cut_kernel_name(std::string_view function) {
  // g++: "... [with auto Kernel = ns::scale<float>; ...]", clang: "... [Kernel = &ns::scale]".
  constexpr std::string_view kBefore = "Kernel = ";
  const std::size_t found = function.find(kBefore);
  if (found == std::string_view::npos) return function;
  std::string_view name = function.substr(found + kBefore.size());
  name = name.substr(0, name.find_first_of(";]"));
  const std::size_t arguments = name.find('<');
  const std::size_t scope = name.substr(0, arguments).rfind("::");
  return scope == std::string_view::npos ? name : name.substr(scope + 2);
}

}  // namespace warpline::emu
