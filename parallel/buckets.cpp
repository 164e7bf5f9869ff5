#include "parallel/buckets.h"

#include <utility>

namespace warpline::parallel {
namespace {

// Flags after the parameters, then up to a multiple of the replicas.
void close(BucketLayout& bucket, int replicas) {
  bucket.flags = bucket.count;
  bucket.count += static_cast<std::int64_t>(bucket.parameters.size());
  bucket.count = (bucket.count + replicas - 1) / replicas * replicas;
}

}  // namespace

std::vector<BucketLayout> assign_buckets(const std::vector<std::int64_t>& counts, std::int64_t element_bytes,
                                         const BucketLimits& limits, int replicas) {
  std::vector<BucketLayout> buckets;
  BucketLayout bucket;
  for (std::size_t p = counts.size(); p-- > 0;) {
    const std::int64_t limit = buckets.empty() ? limits.first_bytes : limits.bytes;
    const std::int64_t held = bucket.count * element_bytes;
    if (held + counts[p] * element_bytes > limit && held * 8 >= limit && !bucket.parameters.empty()) {
      close(bucket, replicas);
      buckets.push_back(std::exchange(bucket, {}));
    }
    bucket.parameters.push_back(p);
    bucket.offsets.push_back(bucket.count);
    bucket.count += counts[p];
  }
  if (!bucket.parameters.empty()) {
    close(bucket, replicas);
    buckets.push_back(std::move(bucket));
  }
  return buckets;
}

}  // namespace warpline::parallel
