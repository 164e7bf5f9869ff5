#include "parallel/report.h"

#include <algorithm>
#include <map>

namespace warpline::parallel {

double speedup_bound(const std::vector<RankReport>& reports) {
  std::map<int, double> whole, largest;  // by replica
  for (const RankReport& report : reports) {
    whole[report.replica] += report.compute_seconds;
    largest[report.replica] = std::max(largest[report.replica], report.compute_seconds);
  }
  double bound = 0;  // of the run: each replica adds what its own cut allows
  for (const auto& [replica, seconds] : whole) {
    bound += largest[replica] > 0 ? seconds / largest[replica] : 1.0;
  }
  return bound;
}

}  // namespace warpline::parallel
