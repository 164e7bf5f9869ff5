// cuBLAS beside the rows of gemm: float32, without tensor cores, as they are.
#include <memory>
#include <string>

#include <cublas_v2.h>
#include <fmt/core.h>

#include "kernels/cuda/call.h"
#include "kernels/error.h"
#include "tools/peers/peer.h"
#include "tools/peers/shared_library.h"

namespace warpline::tools {
namespace {

class Cublas final : public Peer {
 public:
  explicit Cublas(const Stream& stream) {
    cuda::make_current(stream.device);
    check(WARPLINE_LOAD(library_, cublasCreate)(&handle_), "cublasCreate");
    int version = 0;
    check(WARPLINE_LOAD(library_, cublasGetVersion)(handle_, &version), "cublasGetVersion");
    name_ = fmt::format("cuBLAS {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
    check(WARPLINE_LOAD(library_, cublasSetStream)(handle_, static_cast<cudaStream_t>(stream.native)),
          "cublasSetStream");
  }
  ~Cublas() override {
    if (handle_ != nullptr) destroy_(handle_);
  }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  std::string name() const override { return name_; }

  // Its matrices are stored column by column: the transpose of c is that of b times that of a.
  Call prepare(const Problem& problem) override {
    if (problem.op != kernels::Gemm::name || problem.dtype != DType::Float32) return nullptr;
    const auto args = *static_cast<const GemmArgs*>(problem.args.get());
    return [this, args](const std::vector<void*>& pointers) {
      const auto op = [](bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
      const auto size = [](std::int64_t count) { return static_cast<int>(count); };
      const auto alpha = static_cast<float>(args.alpha), beta = static_cast<float>(args.beta);
      check(sgemm_(handle_, op(args.transpose_b), op(args.transpose_a), size(args.n), size(args.m),
                   size(args.k), &alpha, static_cast<const float*>(pointers[1]),
                   size(args.transpose_b ? args.k : args.n), static_cast<const float*>(pointers[0]),
                   size(args.transpose_a ? args.m : args.k), &beta, static_cast<float*>(pointers[2]),
                   size(args.n)),
            "cublasSgemm");
    };
  }

 private:
  void check(cublasStatus_t status, const char* call) const {
    if (status != CUBLAS_STATUS_SUCCESS) fail<Failure>("cublas", "{}: {}", call, text_(status));
  }

  SharedLibrary library_{"cublas", "libcublas.so." WARPLINE_TEXT(CUBLAS_VER_MAJOR)};
  decltype(&cublasGetStatusString) text_ = WARPLINE_LOAD(library_, cublasGetStatusString);
  decltype(&cublasDestroy) destroy_ = WARPLINE_LOAD(library_, cublasDestroy);
  decltype(&cublasSgemm) sgemm_ = WARPLINE_LOAD(library_, cublasSgemm);
  cublasHandle_t handle_ = nullptr;
  std::string name_;
};

}  // namespace

std::unique_ptr<Peer> open_cublas(const Stream& stream) { return std::make_unique<Cublas>(stream); }

}  // namespace warpline::tools
