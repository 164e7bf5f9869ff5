// The runtime of `ref` and `cpu`.
#pragma once

#include "kernels/runtime.h"

namespace warpline {

Runtime& host_runtime();

}  // namespace warpline
