#include "kernels/cuda/runtime.h"

#include "kernels/cuda/call.h"
#include "kernels/cuda/staging.h"
#include "kernels/cuda/support.h"

namespace warpline::cuda {
namespace {

Device gpu(int index) { return {DeviceKind::Cuda, index}; }

cudaStream_t native(const Stream& stream) { return static_cast<cudaStream_t>(stream.native); }

class CudaRuntime final : public Runtime {
 public:
  void* allocate(int device, std::size_t bytes) override {
    require_device(device);
    make_current(gpu(device));
    void* data = nullptr;
    const cudaError_t status = cudaMalloc(&data, bytes);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // told by the null
      return nullptr;
    }
    check(status, "cudaMalloc", gpu(device));
    return data;
  }
  // cudaFree waits for the device. Where it fails the device has failed: the next synchronisation tells.
  void release(int device, void* data, std::size_t) noexcept override {
    if (cudaSetDevice(device) == cudaSuccess) cudaFree(data);
  }

  // Non-blocking: the legacy default stream, which nothing here uses, would order all others.
  void* open_stream(int device, ThreadPool*) override {
    require_device(device);
    make_current(gpu(device));
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags",
          gpu(device));
    return stream;
  }
  void close_stream(void* stream) noexcept override {
    cudaStreamSynchronize(static_cast<cudaStream_t>(stream));
    cudaStreamDestroy(static_cast<cudaStream_t>(stream));
  }

  void synchronize(const Stream& stream) override {
    if (stream.native == nullptr) return;
    check(cudaStreamSynchronize(native(stream)), "cudaStreamSynchronize", stream.device);
  }
  // An event belongs to a device: that of the stream whose place it marks. CUDA keeps a destroyed event until
  // it is done.
  void wait(const Stream& later, const Stream& earlier) override {
    if (later.native == nullptr || earlier.native == nullptr) return;
    make_current(earlier.device);
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags",
          earlier.device);
    const cudaError_t recorded = cudaEventRecord(event, native(earlier));
    const cudaError_t waited =
        recorded == cudaSuccess ? cudaStreamWaitEvent(native(later), event, 0) : cudaSuccess;
    cudaEventDestroy(event);
    check(recorded, "cudaEventRecord", earlier.device);
    check(waited, "cudaStreamWaitEvent", later.device);
  }

  void host_to_device(void* to, const void* from, std::size_t bytes, const Stream& stream) override {
    if (bytes == 0) return;
    make_current(stream.device);
    staging_.copy(to, from, bytes, stream);
  }
  // cudaMemcpyDefault: the addresses tell the devices, which may be two.
  void device_to_device(void* to, const void* from, std::size_t bytes, const Stream& stream) override {
    if (bytes == 0) return;
    make_current(stream.device);
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, native(stream)), "cudaMemcpyAsync",
          stream.device);
  }
  void zero(void* data, std::size_t bytes, const Stream& stream) override {
    if (bytes == 0) return;
    make_current(stream.device);
    check(cudaMemsetAsync(data, 0, bytes, native(stream)), "cudaMemsetAsync", stream.device);
  }
  void device_to_host(void* to, const void* from, std::size_t bytes) override {
    if (bytes == 0) return;
    cudaPointerAttributes where{};
    check(cudaPointerGetAttributes(&where, from), "cudaPointerGetAttributes", gpu(0));
    make_current(gpu(where.device));
    check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy", gpu(where.device));
  }

  // compute-sanitizer watches GPUs from outside.
  void claim(void*, std::size_t, const Stream&) override {}
  void disclaim(void*, std::size_t, const Stream&) noexcept override {}

 private:
  Staging staging_;
};

}  // namespace

Runtime& runtime() {
  require_device(0);
  static CudaRuntime instance;
  return instance;
}

}  // namespace warpline::cuda
