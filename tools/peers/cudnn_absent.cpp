// In place of cuDNN in a build without it.
#include "kernels/error.h"
#include "tools/peers/peer.h"

namespace warpline::tools {

std::unique_ptr<Peer> open_cudnn(const Stream&) {
  fail<DeviceError>("cudnn", "this build has no cuDNN to compare with: {}", WARPLINE_NO_CUDNN);
}

}  // namespace warpline::tools
