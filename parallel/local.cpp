#include "parallel/local.h"

#include <thread>

#include <fmt/core.h>

#include "parallel/fifo_communicator.h"
#include "parallel/local_endpoint.h"
#include "parallel/local_world.h"

namespace warpline::parallel {
namespace {

void check_options(const LocalOptions& options, std::size_t ranks) {
  if (ranks == 0) fail<ValueError>("local", "a run needs at least one rank");
  if (options.buffers < 1) fail<ValueError>("local", "{} buffers a peer; at least 1", options.buffers);
  // Written so that NaN is refused as well.
  if (!(options.timeout_seconds > 0 && options.timeout_seconds <= kMostSeconds)) {
    fail<ValueError>("local", "the timeout is {} s; it must be above 0, and at most {}",
                     options.timeout_seconds, kMostSeconds);
  }
  if (!(options.message_delay_seconds >= 0 && options.message_delay_seconds <= kMostSeconds)) {
    fail<ValueError>("local", "the delay of a message is {} s; it must be from 0 to {}",
                     options.message_delay_seconds, kMostSeconds);
  }
}

}  // namespace

void run_local(const std::vector<std::shared_ptr<Context>>& contexts, const LocalOptions& options,
               const std::function<void(int rank, std::shared_ptr<Communicator> world)>& body) {
  check_options(options, contexts.size());
  const auto world = std::make_shared<local::World>(options, static_cast<int>(contexts.size()));
  const auto fail = [&](int rank) {
    CaughtError error = describe(std::current_exception());
    const std::lock_guard lock(world->mutex);
    world->fail({std::move(error), rank, {rank}});
  };
  const auto run_rank = [&](int rank) {
    try {
      const Device device = contexts[static_cast<std::size_t>(rank)]->device();
      auto endpoint = std::make_unique<local::Endpoint>(world, world->domains.front(), rank, device);
      body(rank, std::make_shared<FifoCommunicator>(
                     std::move(endpoint), FifoOptions{options.timeout_seconds, options.all_reduce}));
    } catch (...) {
      fail(rank);
    }
  };
  if (contexts.size() == 1) {
    run_rank(0);
  } else {
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < contexts.size(); ++r) {
      try {
        threads.emplace_back(run_rank, static_cast<int>(r));
      } catch (...) {  // no more threads
        fail(static_cast<int>(r));
        break;
      }
    }
    for (std::thread& thread : threads) thread.join();
  }
  if (!world->first) return;
  world->first->error.rethrow(contexts.size() == 1 ? "" : fmt::format("rank {}: ", world->first->rank));
}

}  // namespace warpline::parallel
