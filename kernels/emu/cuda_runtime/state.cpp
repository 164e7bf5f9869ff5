#include "kernels/emu/cuda_runtime/state.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "kernels/emu/block.h"
#include "kernels/emu/check/checker.h"
#include "kernels/emu/environment.h"
#include "kernels/emu/memory.h"
#include "kernels/emu/order.h"
#include "kernels/emu/patience.h"
#include "kernels/emu/profile/environment.h"

namespace warpline::cuda {

namespace {

thread_local int device_in_use = 0;

int threads() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

}  // namespace

int current_device() { return device_in_use; }
void use_device(int device) { device_in_use = device; }

State& State::instance() {
  static State& state = *new State;
  return state;
}

State::State() : pool_(threads()) {
  if (emu::profile::wanted_by_environment()) emu::profile::record_until_exit();
  emu::set_order_seed(emu::number_from("WARPLINE_ORDER_SEED", 0, 0));
  const auto count = static_cast<int>(emu::number_from("WARPLINE_EMU_DEVICES", 1, 1, emu::kDevices));
  emu::look_after_kernels();
  for (int device = 0; device < count; ++device) {
    auto stream = std::make_unique<CUstream_st>();
    stream->device = device;
    stream->queue = emu::Queue::open(device, nullptr);
    default_streams_.push_back(std::move(stream));
  }
  default_pieces_.resize(default_streams_.size());
  if (!checked()) return;
  // What nobody waits for is checked as well, while what is made here first is still there, on a thread that
  // has its own variables yet.
  emu::device_memory(0);
  emu::check::Checker::instance();
  emu::check::fail_at_exit();
  std::atexit([] {
    std::thread([] {
      for (int device = 0; device < instance().devices(); ++device) instance().synchronize(device);
    }).join();
  });
}

CUstream_st* State::find(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  if (stream == nullptr) return default_streams_[static_cast<std::size_t>(current_device())].get();
  return streams_.count(stream) != 0 ? stream : nullptr;
}

CUstream_st* State::open(int device, bool blocking) {
  const std::lock_guard lock(mutex_);
  auto* const stream = new CUstream_st;
  stream->device = device;
  stream->blocking = blocking;
  stream->queue = emu::Queue::open(device, nullptr);
  streams_.insert(stream);
  return stream;
}

void State::close(CUstream_st& stream) {
  {
    const std::lock_guard lock(mutex_);
    streams_.erase(&stream);
  }
  stream.queue->close();
  delete &stream;
}

cudaError_t State::synchronize(int device) {
  std::vector<emu::Queue::Mark> ends;
  {
    // Other threads may destroy a stream meanwhile; its queue lives as long as a mark in it.
    const std::lock_guard lock(mutex_);
    ends.push_back(mark(*default_streams_[static_cast<std::size_t>(device)]));
    for (CUstream_st* stream : streams_) {
      if (stream->device == device) ends.push_back(mark(*stream));
    }
  }
  cudaError_t first = cudaSuccess;
  for (const emu::Queue::Mark& end : ends) {
    const cudaError_t error = reach(end);
    if (first == cudaSuccess) first = error;
  }
  return first;
}

// CUDA C++ Programming Guide, "Default Stream", legacy: it waits for all blocking streams of its device, and
// they for it.
void State::put(CUstream_st& stream, emu::Queue::Work work) {
  const std::lock_guard lock(mutex_);
  const auto device = static_cast<std::size_t>(stream.device);
  CUstream_st& standard = *default_streams_[device];
  if (&stream == &standard) {
    for (CUstream_st* other : streams_) {
      if (other->device != stream.device || !other->ahead_of_default) continue;
      other->ahead_of_default = false;
      standard.queue->wait_for(*other->queue);
    }
    ++default_pieces_[device];
  } else if (stream.blocking) {
    if (stream.default_seen != default_pieces_[device]) {
      stream.default_seen = default_pieces_[device];
      stream.queue->wait_for(*standard.queue);
    }
    stream.ahead_of_default = true;
  }
  stream.queue->push([this, work = std::move(work)](emu::Moment& moment) { run(work, moment); });
}

emu::Queue::Mark State::mark(CUstream_st& stream) {
  put(stream, [](const emu::Moment&) {});
  return stream.queue->mark();
}

void State::run(const emu::Queue::Work& work, emu::Moment& moment) {
  if (broken() != cudaSuccess) return;
  const std::size_t reports = emu::check::reports();
  try {
    work(moment);
  } catch (const std::exception& error) {
    const cudaError_t named = failure_.exchange(cudaErrorLaunchFailure);
    const bool endless = dynamic_cast<const emu::KernelTimeout*>(&error) != nullptr;
    break_with(endless ? cudaErrorLaunchTimeout : named);
    // Often it has been told.
    if (emu::check::reports() == reports && broken() != cudaErrorAssert)
      emu::check::add(emu::check::report_of(error));
  }
}

std::size_t State::most_shared_bytes(const void* kernel) {
  const std::lock_guard lock(mutex_);
  if (const auto found = shared_bytes_.find(kernel); found != shared_bytes_.end()) return found->second;
  std::size_t most = emu::kSharedBytesUnasked;
  for (const auto& [other, bytes] : shared_bytes_) {
    if (kernel == nullptr) most = std::max(most, bytes);
  }
  return most;
}

void State::allow_shared_bytes(const void* kernel, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  shared_bytes_[kernel] = std::max(bytes, emu::kSharedBytesUnasked);
}

void State::add(void* data, Allocation allocation) {
  const std::lock_guard lock(mutex_);
  allocations_[static_cast<std::byte*>(data)] = allocation;
}

void State::remove(void* data) {
  const std::lock_guard lock(mutex_);
  allocations_.erase(static_cast<std::byte*>(data));
}

std::optional<State::Place> State::place_of(const void* address) {
  const std::lock_guard lock(mutex_);
  auto* const byte = static_cast<std::byte*>(const_cast<void*>(address));
  auto after = allocations_.upper_bound(byte);
  if (after == allocations_.begin()) return std::nullopt;
  const auto& [begin, allocation] = *std::prev(after);
  const auto offset = static_cast<std::size_t>(byte - begin);
  if (offset >= allocation.bytes) return std::nullopt;
  return Place{allocation, offset};
}

bool State::take_new_reports() {
  const std::lock_guard lock(mutex_);
  const std::size_t reports = emu::check::reports();
  return std::exchange(reports_told_, reports) != reports;
}

cudaError_t reach(const emu::Queue::Mark& mark) {
  State& state = State::instance();
  bool failed = false;
  try {
    emu::Queue::reach(mark);
  } catch (const Error&) {
    failed = true;  // what the checks reported, which stops nothing
  }
  failed = state.take_new_reports() || failed;
  if (state.broken() != cudaSuccess) return state.broken();
  return failed ? cudaErrorLaunchFailure : cudaSuccess;
}

cudaError_t synchronize(CUstream_st& stream) { return reach(State::instance().mark(stream)); }

}  // namespace warpline::cuda
