// Commits one fault through a room's own code, so that a test can see the sanitizer report it.
//
// usage: planted ROOM FAULT [clean]     clean: the same calls, done right
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include "engine/inplace.h"
#include "engine/tensor.h"
#include "engine/tensor_impl.h"
#include "kernels/table.h"
#include "models/loader.h"
#include "parallel/local.h"
#include "tools/checkpoint.h"
#include "tools/progress.h"

namespace {

using namespace warpline;

// A tensor that claims one element more than its storage has, as a wrong view would.
Tensor longer(const Tensor& tensor) {
  Tensor view = tensor.detach();
  auto* impl = const_cast<TensorImpl*>(view.impl());
  ++impl->count;
  impl->shape = {impl->count};
  return view;
}

// Both bodies at the same time; without the fault one after the other. No order between them is hidden by a
// lock of ours, so ThreadSanitizer sees the race whichever of them comes first.
template <class A, class B>
void two_threads(bool fault, A a, B b) {
  std::thread first(a);
  if (!fault) first.join();
  std::thread second(b);
  if (fault) first.join();
  second.join();
}

void wait_for(const std::atomic<bool>& flag) {  // relaxed: it orders nothing
  while (!flag.load(std::memory_order_relaxed)) std::this_thread::yield();
}

// A kernel is told one element more than its buffers have.
void kernels_overrun(bool fault) {
  Context context;
  const std::vector<float> x(5, 1.0F);
  std::vector<float> y(5);
  const kernels::CountArgs args{fault ? 6 : 5};
  kernels::kernel<kernels::ReluForward>(DeviceKind::Cpu, DType::Float32, args)(x.data(), y.data(), args,
                                                                               context.stream());
}

// A kernel writes behind what it asked of the scratch memory, which is larger.
void kernels_scratch(bool fault) {
  Context context;
  const kernels::CountArgs args{fault ? 6 : 5};
  void* memory = context.stream().scratch->get(0, 0, 5 * sizeof(float));
  kernels::kernel<kernels::Fill>(DeviceKind::Cpu, DType::Float32, args)(memory, args, context.stream());
}

// Two pools write one output.
void kernels_race(bool fault) {
  std::vector<float> y(5);
  const auto fill = [&] {
    Context context;
    const kernels::CountArgs args{5, 2.0};
    kernels::kernel<kernels::Fill>(DeviceKind::Cpu, DType::Float32, args)(y.data(), args, context.stream());
  };
  two_threads(fault, fill, fill);
}

void engine_overrun(bool fault) {
  Context context;
  const Tensor tensor = Tensor::zeros(context, {5});
  (fault ? longer(tensor) : tensor).to_host<float>();
}

std::span<const std::byte> bytes_of(const Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.data()), static_cast<std::size_t>(tensor.bytes())};
}

// The block of a tensor is read after it went back to the allocator, which keeps it.
void engine_freed(bool fault) {
  Context context, reader;
  Tensor tensor = Tensor::zeros(context, {5});
  const auto bytes = bytes_of(tensor);
  if (fault) tensor = {};
  Tensor::from_bytes(reader, bytes, {5}, DType::Float32);
}

// The same while another thread has the block. Done right, the allocator alone orders the two threads.
void engine_reuse(bool fault) {
  Context context, reader;
  Context second(context, 1);
  Tensor tensor = Tensor::zeros(context, {5});
  const auto bytes = bytes_of(tensor);
  const auto read = [&] { Tensor::from_bytes(reader, bytes, {5}, DType::Float32); };
  std::atomic<bool> freed{false};
  two_threads(
      true,
      [&] {
        if (!fault) read();
        tensor = {};
        freed.store(true, std::memory_order_relaxed);
        if (fault) read();
      },
      [&] {
        wait_for(freed);
        Tensor::full(second, {5}, 2.0);
      });
}

// Two threads change one tensor.
void engine_race(bool fault) {
  Context context;
  Context second(context, 1);  // made here: a shared_ptr that is copied orders threads
  Tensor tensor = Tensor::zeros(context, {5});
  two_threads(
      fault, [&] { scale_(context, tensor, 2.0); }, [&] { scale_(second, tensor, 2.0); });
}

std::vector<std::shared_ptr<Context>> two_ranks() {
  return {std::make_shared<Context>(Device{DeviceKind::Cpu, 0}),
          std::make_shared<Context>(Device{DeviceKind::Cpu, 1})};
}

// The receive buffer is shorter than it says.
void parallel_overrun(bool fault) {
  const auto contexts = two_ranks();
  parallel::run_local(contexts, {}, [&](int rank, const std::shared_ptr<parallel::Communicator>& world) {
    Context& own = *contexts[static_cast<std::size_t>(rank)];
    const Tensor tensor = Tensor::zeros(own, {rank == 0 && fault ? 6 : 5});
    if (rank == 0) {
      world->send(tensor, 1, own.stream()).wait();
    } else {
      world->recv(fault ? longer(tensor) : tensor, 0, own.stream()).wait();
    }
  });
}

// What is sent changes before the send is known to be done.
void parallel_race(bool fault) {
  const auto contexts = two_ranks();
  std::atomic<bool> received{false};
  parallel::run_local(contexts, {}, [&](int rank, const std::shared_ptr<parallel::Communicator>& world) {
    Context& own = *contexts[static_cast<std::size_t>(rank)];
    Tensor tensor = Tensor::zeros(own, {5});
    if (rank == 1) {
      world->recv(tensor, 0, own.stream()).wait();
      received.store(true, std::memory_order_relaxed);
      return;
    }
    const parallel::Work sent = world->send(tensor, 1, own.stream());
    wait_for(received);
    if (!fault) sent.wait();
    fill_(own, tensor, 2.0);
    sent.wait();
  });
}

// The last image of a list is drawn larger than the list's images are.
void models_overrun(bool fault) {
  const auto draw = [fault](std::int64_t, std::span<std::uint8_t> image) {
    std::memset(image.data(), 1, image.size() + (fault ? 1 : 0));
  };
  const Samples samples(draw, std::vector<std::uint8_t>(3), 4);
  samples.image(2);
}

// Two threads use one loader.
void models_race(bool fault) {
  const std::vector<std::uint8_t> images(24), labels(4);
  const auto data = std::make_shared<const Dataset>(
      Dataset{"zeros", {1, 2, 3}, 10, {0.0F}, {1.0F}, {images, labels, 6}, {images, labels, 6}});
  Loader loader(data, data->train, {.batch_size = 2});
  const auto get = [&] {
    Context context;
    loader.get(context, 0, 0);
  };
  two_threads(fault, get, get);
}

// A parameter that claims more than it has is hashed.
void tools_overrun(bool fault) {
  Context context;
  const Tensor tensor = Tensor::zeros(context, {5});
  tools::parameters_sha256({{"weight", fault ? longer(tensor) : tensor}});
}

// Two ranks tell their progress to one bar.
void tools_race(bool fault) {
  tools::Progress progress("epoch 1/1", 2, 1, "images");
  two_threads(
      fault, [&] { progress.update(1, ""); }, [&] { progress.update(2, ""); });
}

const std::map<std::string, void (*)(bool fault)> kFaults = {
    {"kernels overrun", kernels_overrun}, {"kernels scratch", kernels_scratch},
    {"kernels race", kernels_race},       {"engine overrun", engine_overrun},
    {"engine freed", engine_freed},       {"engine reuse", engine_reuse},
    {"engine race", engine_race},         {"parallel overrun", parallel_overrun},
    {"parallel race", parallel_race},     {"models overrun", models_overrun},
    {"models race", models_race},         {"tools overrun", tools_overrun},
    {"tools race", tools_race},
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const bool clean = words.size() == 3 && words[2] == "clean";
  const auto found = words.size() == 2 || clean ? kFaults.find(words[0] + " " + words[1]) : kFaults.end();
  if (found == kFaults.end()) {
    fmt::print(stderr, "usage: planted ROOM FAULT [clean]\n");
    for (const auto& [name, commit] : kFaults) fmt::print(stderr, "  planted {}\n", name);
    return 2;
  }
  found->second(!clean);
  return 0;
}
