// What a training step must send, in closed form: from the layout and the model's shapes alone, without
// running anything. Tests hold the counted bytes against it, which shows that the work is really split.
//
// With S bytes of gradients in a bucket (flags and padding included), N replicas, k subtree sums of a rank:
//   fast           2 (N-1)/N S sent, ring all-reduce in 2 (N-1) messages
//   deterministic  (N-1)/N S k sent, k (N-1) messages; then (N-1)/N S in N-1 messages to gather
// A stage boundary of E elements a sample: 4 E bytes a sample forward, and as many back where the input wants
// a gradient; one message a block each way.
#pragma once

#include "parallel/communicator.h"
#include "parallel/layout.h"

namespace warpline::parallel {

// Of world rank `rank`, in a step on a global batch of `count` samples.
Traffic expected_traffic(const Layout& layout, const ModelCut& cut, const BucketLimits& limits, int rank,
                         std::int64_t count);

}  // namespace warpline::parallel
