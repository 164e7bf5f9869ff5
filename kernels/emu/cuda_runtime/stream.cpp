// Streams and events: queues, and points in them.
#include <chrono>

#include "kernels/emu/cuda_runtime/state.h"

using warpline::cuda::api;
using warpline::cuda::State;
using warpline::emu::Moment;
using warpline::emu::Queue;

namespace {

// Of a stream or event that is asked again and again: each time a little more is done.
cudaError_t query(const Queue::Mark& mark) {
  if (Queue::is_reached(mark)) return warpline::cuda::reach(mark);
  mark.queue->step();
  return cudaErrorNotReady;
}

}  // namespace

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return api([&](State& state) {
    if (flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
    *stream = state.open(warpline::cuda::current_device(), flags == cudaStreamDefault);
    return cudaSuccess;
  });
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
// One priority.
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return api([&](State& state) {
    CUstream_st* const found = stream != nullptr ? state.find(stream) : nullptr;
    if (found == nullptr) return cudaErrorInvalidResourceHandle;
    state.close(*found);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return api([&](State& state) {
    CUstream_st* const found = state.find(stream);
    return found != nullptr ? warpline::cuda::synchronize(*found) : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return api([&](State& state) {
    CUstream_st* const found = state.find(stream);
    if (found == nullptr) return cudaErrorInvalidResourceHandle;
    return found->queue->step() ? cudaErrorNotReady : warpline::cuda::synchronize(*found);
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return api([&](State& state) {
    CUstream_st* const found = state.find(stream);
    if (found == nullptr || event == nullptr) return cudaErrorInvalidResourceHandle;
    if (event->mark) {
      state.put(*found, [](const Moment&) {});  // the wait is the stream's work as well
      found->queue->wait_for(*event->mark);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned) {
  return api([&](State& state) {
    CUstream_st* const found = state.find(stream);
    if (found == nullptr) return cudaErrorInvalidResourceHandle;
    state.put(*found, [=](const Moment&) { callback(stream, cudaSuccess, data); });
    return cudaSuccess;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return api([&](State& state) {
    CUstream_st* const found = state.find(stream);
    if (found == nullptr) return cudaErrorInvalidResourceHandle;
    state.put(*found, [=](const Moment&) { function(data); });
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return api([&](State&) {
    *event = new CUevent_st;
    (*event)->timing = (flags & cudaEventDisableTiming) == 0;
    return cudaSuccess;
  });
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
  return cudaEventCreateWithFlags(event, flags);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return api([&](State&) {
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    delete event;
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return api([&](State& state) {
    CUstream_st* const found = state.find(stream);
    if (found == nullptr || event == nullptr) return cudaErrorInvalidResourceHandle;
    const auto time = std::make_shared<std::chrono::steady_clock::time_point>();
    event->time = time;
    state.put(*found, [time](const Moment&) { *time = std::chrono::steady_clock::now(); });
    event->mark = found->queue->mark();
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return api([&](State&) {
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    return event->mark ? warpline::cuda::reach(*event->mark) : cudaSuccess;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return api([&](State&) {
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    return event->mark ? query(*event->mark) : cudaSuccess;
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  return api([&](State&) {
    for (const cudaEvent_t event : {begin, end}) {
      if (event == nullptr || !event->mark || !event->timing) return cudaErrorInvalidResourceHandle;
      if (!Queue::is_reached(*event->mark)) return cudaErrorNotReady;
    }
    *milliseconds = std::chrono::duration<float, std::milli>(*end->time - *begin->time).count();
    return cudaSuccess;
  });
}
