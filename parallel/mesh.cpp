#include "parallel/mesh.h"

#include <limits>

#include "kernels/error.h"

namespace warpline::parallel {
namespace {

void check_index(const char* what, int index, int size) {
  if (index >= 0 && index < size) return;
  fail<ValueError>("mesh", "{} {} is not one of 0..{}", what, index, size - 1);
}

}  // namespace

Mesh::Mesh(int replicas, int stages) : replicas_(replicas), stages_(stages) {
  if (replicas < 1 || stages < 1 || replicas > std::numeric_limits<int>::max() / stages) {
    fail<ValueError>("mesh",
                     "{} replicas x {} stage ranks; both must be at least 1, and their product an int",
                     replicas, stages);
  }
}

int Mesh::rank(int replica, int stage) const {
  check_index("replica", replica, replicas_);
  check_index("stage", stage, stages_);
  return replica * stages_ + stage;
}

int Mesh::replica(int rank) const {
  check_index("rank", rank, size());
  return rank / stages_;
}

int Mesh::stage(int rank) const {
  check_index("rank", rank, size());
  return rank % stages_;
}

std::vector<int> Mesh::pipeline(int replica) const {
  std::vector<int> ranks;
  for (int stage = 0; stage < stages_; ++stage) ranks.push_back(rank(replica, stage));
  return ranks;
}

std::vector<int> Mesh::data_group(int stage) const {
  std::vector<int> ranks;
  for (int replica = 0; replica < replicas_; ++replica) ranks.push_back(rank(replica, stage));
  return ranks;
}

Slice Mesh::pipeline_slice(int rank) const { return {replica(rank), stage(rank)}; }
Slice Mesh::data_slice(int rank) const { return {stage(rank), replica(rank)}; }

}  // namespace warpline::parallel
