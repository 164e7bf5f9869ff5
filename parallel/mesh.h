// The ranks of a run as one integer grid, data x stage: pure arithmetic. A row is a replica, the ranks of its
// pipeline next to each other; a column holds the ranks with the same stages, one of each replica.
//
//   3 replicas x 2 stage ranks        pipelines: 01 23 45     (messages of activations and gradients)
//     rank = replica * 2 + stage      data groups: 024 135    (reduction of gradients)
//
//        stage 0  stage 1
//          0        1      replica 0
//          2        3      replica 1
//          4        5      replica 2
#pragma once

#include <vector>

namespace warpline::parallel {

// What Communicator::split() takes to make a slice of the grid a communicator.
struct Slice {
  int colour = 0, key = 0;
  bool operator==(const Slice&) const = default;
};

class Mesh {
 public:
  // ValueError: a size below 1, or a product that leaves int.
  Mesh(int replicas, int stages);

  int replicas() const { return replicas_; }
  int stages() const { return stages_; }  // ranks of a pipeline
  int size() const { return replicas_ * stages_; }

  // ValueError where an index is outside.
  int rank(int replica, int stage) const;
  int replica(int rank) const;
  int stage(int rank) const;
  std::vector<int> pipeline(int replica) const;  // ranks of one row, by stage
  std::vector<int> data_group(int stage) const;  // ranks of one column, by replica
  Slice pipeline_slice(int rank) const;          // the communicator of this rank's row
  Slice data_slice(int rank) const;              // of its column

 private:
  int replicas_, stages_;
};

}  // namespace warpline::parallel
