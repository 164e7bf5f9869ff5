// cuDNN beside the rows of the convolution and its gradients: float32, without tensor cores, by the algorithm
// that the library itself prefers.
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <cudnn.h>
#include <fmt/core.h>

#include "kernels/cuda/call.h"
#include "kernels/error.h"
#include "kernels/runtime.h"
#include "tools/peers/peer.h"
#include "tools/peers/shared_library.h"

namespace warpline::tools {
namespace {

constexpr float kOne = 1, kZero = 0;

class Functions {
 public:
  void check(cudnnStatus_t status, const char* call) const {
    if (status != CUDNN_STATUS_SUCCESS) fail<Failure>("cudnn", "{}: {}", call, text_(status));
  }

#define WARPLINE_CUDNN(member, name) const decltype(&name) member = WARPLINE_LOAD(library_, name)
 private:
  SharedLibrary library_{"cudnn", "libcudnn.so." WARPLINE_TEXT(CUDNN_MAJOR)};
  WARPLINE_CUDNN(text_, cudnnGetErrorString);

 public:
  WARPLINE_CUDNN(version, cudnnGetVersion);
  WARPLINE_CUDNN(create, cudnnCreate);
  WARPLINE_CUDNN(destroy, cudnnDestroy);
  WARPLINE_CUDNN(set_stream, cudnnSetStream);
  WARPLINE_CUDNN(create_tensor, cudnnCreateTensorDescriptor);
  WARPLINE_CUDNN(destroy_tensor, cudnnDestroyTensorDescriptor);
  WARPLINE_CUDNN(set_tensor, cudnnSetTensor4dDescriptor);
  WARPLINE_CUDNN(create_filter, cudnnCreateFilterDescriptor);
  WARPLINE_CUDNN(destroy_filter, cudnnDestroyFilterDescriptor);
  WARPLINE_CUDNN(set_filter, cudnnSetFilter4dDescriptor);
  WARPLINE_CUDNN(create_convolution, cudnnCreateConvolutionDescriptor);
  WARPLINE_CUDNN(destroy_convolution, cudnnDestroyConvolutionDescriptor);
  WARPLINE_CUDNN(set_convolution, cudnnSetConvolution2dDescriptor);
  WARPLINE_CUDNN(set_groups, cudnnSetConvolutionGroupCount);
  WARPLINE_CUDNN(set_math, cudnnSetConvolutionMathType);
  WARPLINE_CUDNN(choose_forward, cudnnGetConvolutionForwardAlgorithm_v7);
  WARPLINE_CUDNN(choose_input, cudnnGetConvolutionBackwardDataAlgorithm_v7);
  WARPLINE_CUDNN(choose_weight, cudnnGetConvolutionBackwardFilterAlgorithm_v7);
  WARPLINE_CUDNN(forward, cudnnConvolutionForward);
  WARPLINE_CUDNN(add_bias, cudnnAddTensor);
  WARPLINE_CUDNN(backward_input, cudnnConvolutionBackwardData);
  WARPLINE_CUDNN(backward_weight, cudnnConvolutionBackwardFilter);
  WARPLINE_CUDNN(backward_bias, cudnnConvolutionBackwardBias);
#undef WARPLINE_CUDNN
};

// What one problem needs: the shapes as the library sees them, and its working memory.
class Convolution {
 public:
  Convolution(const Functions& cudnn, const Conv2dArgs& args, const Stream& stream)
      : x(make(cudnn, cudnn.create_tensor, cudnn.destroy_tensor)),
        y(make(cudnn, cudnn.create_tensor, cudnn.destroy_tensor)),
        bias(make(cudnn, cudnn.create_tensor, cudnn.destroy_tensor)),
        weight(make(cudnn, cudnn.create_filter, cudnn.destroy_filter)),
        convolution(make(cudnn, cudnn.create_convolution, cudnn.destroy_convolution)),
        stream_(stream) {
    const auto size = [](std::int64_t count) { return static_cast<int>(count); };
    const auto tensor = [&](const auto& descriptor, std::int64_t n, std::int64_t c, std::int64_t h,
                            std::int64_t w) {
      cudnn.check(cudnn.set_tensor(descriptor.get(), CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, size(n), size(c),
                                   size(h), size(w)),
                  "cudnnSetTensor4dDescriptor");
    };
    tensor(x, args.batch, args.channels, args.height, args.width);
    tensor(y, args.batch, args.filters, args.out_h, args.out_w);
    tensor(bias, 1, args.filters, 1, 1);
    cudnn.check(cudnn.set_filter(weight.get(), CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, size(args.filters),
                                 size(args.channels / args.groups), size(args.kernel_h), size(args.kernel_w)),
                "cudnnSetFilter4dDescriptor");
    cudnn.check(cudnn.set_convolution(convolution.get(), size(args.pad_h), size(args.pad_w),
                                      size(args.stride_h), size(args.stride_w), size(args.dilation_h),
                                      size(args.dilation_w), CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
                "cudnnSetConvolution2dDescriptor");
    cudnn.check(cudnn.set_groups(convolution.get(), size(args.groups)), "cudnnSetConvolutionGroupCount");
    cudnn.check(cudnn.set_math(convolution.get(), CUDNN_FMA_MATH), "cudnnSetConvolutionMathType");
  }
  ~Convolution() {
    if (workspace != nullptr) runtime(stream_.device.kind).release(stream_.device.index, workspace, bytes);
  }
  Convolution(const Convolution&) = delete;
  Convolution& operator=(const Convolution&) = delete;

  void reserve(std::size_t wanted) {
    if (wanted == 0) return;
    workspace = runtime(stream_.device.kind).allocate(stream_.device.index, wanted);
    if (workspace == nullptr)
      fail<Failure>("cudnn", "the device has no {} bytes left to work in; use a smaller --shape", wanted);
    bytes = wanted;
  }

  template <class Descriptor>
  using Owned = std::shared_ptr<std::remove_pointer_t<Descriptor>>;
  const Owned<cudnnTensorDescriptor_t> x, y, bias;
  const Owned<cudnnFilterDescriptor_t> weight;
  const Owned<cudnnConvolutionDescriptor_t> convolution;
  void* workspace = nullptr;
  std::size_t bytes = 0;  // of the workspace

 private:
  template <class Descriptor>
  static Owned<Descriptor> make(const Functions& cudnn, cudnnStatus_t (*create)(Descriptor*),
                                cudnnStatus_t (*destroy)(Descriptor)) {
    Descriptor made = nullptr;
    cudnn.check(create(&made), "creating a descriptor");
    return {made, destroy};
  }
  const Stream stream_;
};

class Cudnn final : public Peer {
 public:
  explicit Cudnn(const Stream& stream) : stream_(stream) {
    cuda::make_current(stream.device);
    cudnn_.check(cudnn_.create(&handle_), "cudnnCreate");
    const std::size_t version = cudnn_.version();
    name_ = fmt::format("cuDNN {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
    cudnn_.check(cudnn_.set_stream(handle_, static_cast<cudaStream_t>(stream.native)), "cudnnSetStream");
  }
  ~Cudnn() override {
    if (handle_ != nullptr) cudnn_.destroy(handle_);
  }
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;

  std::string name() const override { return name_; }

  Call prepare(const Problem& problem) override {
    using Prepare = Call (Cudnn::*)(const std::shared_ptr<Convolution>&);
    const std::pair<std::string_view, Prepare> ways[] = {
        {kernels::Conv2dForward::name, &Cudnn::forward},
        {kernels::Conv2dBackwardInput::name, &Cudnn::backward_input},
        {kernels::Conv2dBackwardWeight::name, &Cudnn::backward_weight},
        {kernels::Conv2dBackwardBias::name, &Cudnn::backward_bias},
    };
    for (const auto& [op, way] : ways) {
      if (problem.op != op) continue;
      const auto& args = *static_cast<const Conv2dArgs*>(problem.args.get());
      return (this->*way)(std::make_shared<Convolution>(cudnn_, args, stream_));
    }
    return nullptr;
  }

 private:
  // The pointers are those of the op's signature (kernels/ops.h).
  Call forward(const std::shared_ptr<Convolution>& c) {
    const auto chosen =
        best<cudnnConvolutionFwdAlgoPerf_t>(*c, cudnn_.choose_forward, c->x, c->weight, c->convolution, c->y);
    return [this, c, algorithm = chosen.algo](const std::vector<void*>& p) {
      cudnn_.check(
          cudnn_.forward(handle_, &kOne, c->x.get(), p[0], c->weight.get(), p[1], c->convolution.get(),
                         algorithm, c->workspace, c->bytes, &kZero, c->y.get(), p[3]),
          "cudnnConvolutionForward");
      cudnn_.check(cudnn_.add_bias(handle_, &kOne, c->bias.get(), p[2], &kOne, c->y.get(), p[3]),
                   "cudnnAddTensor");
    };
  }
  Call backward_input(const std::shared_ptr<Convolution>& c) {
    const auto chosen = best<cudnnConvolutionBwdDataAlgoPerf_t>(*c, cudnn_.choose_input, c->weight, c->y,
                                                                c->convolution, c->x);
    return [this, c, algorithm = chosen.algo](const std::vector<void*>& p) {
      cudnn_.check(
          cudnn_.backward_input(handle_, &kOne, c->weight.get(), p[1], c->y.get(), p[0], c->convolution.get(),
                                algorithm, c->workspace, c->bytes, &kZero, c->x.get(), p[2]),
          "cudnnConvolutionBackwardData");
    };
  }
  Call backward_weight(const std::shared_ptr<Convolution>& c) {
    const auto chosen = best<cudnnConvolutionBwdFilterAlgoPerf_t>(*c, cudnn_.choose_weight, c->x, c->y,
                                                                  c->convolution, c->weight);
    return [this, c, algorithm = chosen.algo](const std::vector<void*>& p) {
      cudnn_.check(
          cudnn_.backward_weight(handle_, &kOne, c->x.get(), p[1], c->y.get(), p[0], c->convolution.get(),
                                 algorithm, c->workspace, c->bytes, &kZero, c->weight.get(), p[2]),
          "cudnnConvolutionBackwardFilter");
    };
  }
  Call backward_bias(const std::shared_ptr<Convolution>& c) {
    return [this, c](const std::vector<void*>& p) {
      cudnn_.check(cudnn_.backward_bias(handle_, &kOne, c->y.get(), p[0], &kZero, c->bias.get(), p[1]),
                   "cudnnConvolutionBackwardBias");
    };
  }

  // The algorithm that the library expects to be fastest; reserves what it works in.
  template <class Found, class Choose, class... Descriptors>
  Found best(Convolution& convolution, Choose choose, const Descriptors&... descriptors) {
    Found found{};
    int count = 0;
    cudnn_.check(choose(handle_, descriptors.get()..., 1, &count, &found), "choosing an algorithm");
    cudnn_.check(count == 0 ? CUDNN_STATUS_NOT_SUPPORTED : found.status, "choosing an algorithm");
    convolution.reserve(found.memory);
    return found;
  }

  const Stream stream_;
  const Functions cudnn_;
  cudnnHandle_t handle_ = nullptr;
  std::string name_;
};

}  // namespace

std::unique_ptr<Peer> open_cudnn(const Stream& stream) { return std::make_unique<Cudnn>(stream); }

}  // namespace warpline::tools
