// Libraries of NVIDIA's that compute what some rows of the kernel table compute: what those are compared with
// on a GPU. They are loaded when they are asked for, since that takes longer than most commands; in place of
// one whose headers the build did not find stands a stub, whose error says so.
#pragma once

#include <memory>
#include <string>

#include "kernels/stream.h"
#include "tools/kernel_bench.h"
#include "tools/kernel_problems.h"

namespace warpline::tools {

class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::string name() const = 0;  // "cuBLAS 13.1.0"
  // The library's way to compute the problem, on the stream that the peer was opened for. Null where it has
  // none.
  virtual Call prepare(const Problem& problem) = 0;
};

// DeviceError where the library is missing, Failure where it does not start.
std::unique_ptr<Peer> open_cublas(const Stream& stream);  // matrix products
std::unique_ptr<Peer> open_cudnn(const Stream& stream);   // convolutions

}  // namespace warpline::tools
