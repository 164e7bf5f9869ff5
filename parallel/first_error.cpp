#include "parallel/first_error.h"

#include <algorithm>

#include "parallel/communicator.h"

namespace warpline::parallel {

void FirstError::rethrow_on(int world_rank) const {
  if (std::find(own.begin(), own.end(), world_rank) != own.end()) error.rethrow();
  fail<PeerError>("communicator", "rank {} failed first: {}", rank, error.text);
}

}  // namespace warpline::parallel
