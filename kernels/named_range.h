// Names what a thread does, for a profiler to show beside the GPU's work: a range of NVTX, which Nsight
// Systems and its like read. Nothing where the build has no CUDA Toolkit.
#pragma once

#include <string_view>

namespace warpline {

class NamedRange {
 public:
  explicit NamedRange(std::string_view name);
  ~NamedRange();
  NamedRange(const NamedRange&) = delete;
  NamedRange& operator=(const NamedRange&) = delete;
};

}  // namespace warpline
