// Gradients travel in flat buckets: few large messages, and the first can leave while backward still runs.
// A bucket is one tensor, and the gradients of its parameters are views of it.
//
//   bucket 0: fc2.bias | fc2.weight | fc1.bias | flags | padding    ready first: backward runs from the end
//   bucket 1: fc1.weight | flags | padding
//   bucket 2: conv2.bias | conv2.weight | conv1.bias | conv1.weight | flags | padding
//
// One flag a parameter counts who has a gradient for it, so that a parameter that nobody used is left alone;
// the padding makes the bucket divide by the number of replicas.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/tensor.h"

namespace warpline::parallel {

struct BucketLimits {
  std::int64_t bytes = 1 << 20;
  std::int64_t first_bytes = 32 << 10;  // of the bucket that is ready first: small, so that it leaves early
};

struct BucketLayout {
  std::vector<std::size_t> parameters;  // indices in order of use
  std::vector<std::int64_t> offsets;    // elements, as parameters
  std::int64_t flags = 0;               // offset of the first flag
  std::int64_t count = 0;               // elements, with flags and padding
};

// `counts`: elements of each parameter in order of use. A bucket is closed before a parameter that takes it
// over its limit, unless it is less than an eighth full. Depends on nothing else, so that all replicas agree.
std::vector<BucketLayout> assign_buckets(const std::vector<std::int64_t>& counts, std::int64_t element_bytes,
                                         const BucketLimits& limits, int replicas);

}  // namespace warpline::parallel
