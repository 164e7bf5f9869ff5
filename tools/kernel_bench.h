// Checks one way to compute a problem against `ref`, then times it: the core of `warpline bench kernels`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/stream.h"
#include "tools/kernel_check.h"
#include "tools/kernel_problems.h"

namespace warpline::tools {

struct Measurement {
  std::string op, variant, shape;
  bool peer = false;            // of another library, which variant names
  double flops = 0, bytes = 0;  // a call: by the row's formula; that it needs to touch
  double seconds = 0;           // a call, the median of the repeats
  std::int64_t repeats = 0;     // that were timed, of `calls` calls each
  std::int64_t calls = 0;
  std::string wrong;  // how the result is not that of `ref`; then nothing was timed

  double flops_per_second() const { return flops / seconds; }
  double bytes_per_second() const { return bytes / seconds; }
};

// Puts a call on the stream; `pointers` as for Problem::run.
using Call = std::function<void(const std::vector<void*>& pointers)>;

// Repeats until min_seconds have passed, once at least. What is short is called many times between two waits,
// so that launches follow each other as in a training step. Operands stay where they are: in a cache, if they
// fit.
Measurement measure(const Problem& problem, const Outputs& expected, const Stream& stream, const Call& call,
                    double min_seconds);

}  // namespace warpline::tools
