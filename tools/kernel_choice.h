// Kernels as a command line names them: "gemm", all variants of an op, or "gemm/naive", one of them.
#pragma once

#include <string>

#include "kernels/device.h"
#include "kernels/table.h"

namespace warpline::tools {

struct KernelChoice {
  std::string op, variant;  // empty: all

  bool takes(const kernels::Row& row) const {
    return row.op == op && (variant.empty() || row.variant == variant);
  }
};

// ValueError, with those that there are, for an op without problems or a variant that the target has not.
KernelChoice parse_kernel(const std::string& name, DeviceKind target);

}  // namespace warpline::tools
