#include <string>

#include <nvtx3/nvToolsExt.h>

#include "kernels/named_range.h"

namespace warpline {

NamedRange::NamedRange(std::string_view name) { nvtxRangePushA(std::string(name).c_str()); }

NamedRange::~NamedRange() { nvtxRangePop(); }

}  // namespace warpline
