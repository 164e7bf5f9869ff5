// In place of cuBLAS in a build without it.
#include "kernels/error.h"
#include "tools/peers/peer.h"

namespace warpline::tools {

std::unique_ptr<Peer> open_cublas(const Stream&) {
  fail<DeviceError>("cublas", "this build has no cuBLAS to compare with: {}", WARPLINE_NO_CUBLAS);
}

}  // namespace warpline::tools
