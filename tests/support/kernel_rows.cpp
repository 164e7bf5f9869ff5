#include "tests/support/kernel_rows.h"

#include <algorithm>
#include <memory>

#include "kernels/runtime.h"
#include "tests/support/options.h"

namespace warpline::test {
namespace {

struct Workers {
  explicit Workers(int threads) : pool(threads), scratch(threads) {}
  ThreadPool pool;
  Scratch scratch;
};

}  // namespace

const Stream& stream_of(DeviceKind target, int threads) {
  static std::map<int, std::unique_ptr<Workers>> workers;
  static std::map<std::pair<DeviceKind, int>, Stream> streams;
  std::unique_ptr<Workers>& shared = workers[threads];
  if (!shared) shared = std::make_unique<Workers>(threads);
  Stream& stream = streams[{target, threads}];
  if (stream.pool != nullptr) return stream;
  stream = {Device{target, 0}, &shared->pool, &shared->scratch,
            runtime(target).open_stream(0, &shared->pool)};
  return stream;
}

std::string name_of(const kernels::Row& row) {
  return fmt::format("{}/{} {}", to_string(row.target), row.variant, to_string(row.dtype));
}

bool is_asked_for(const kernels::Row& row) {
  const std::vector<DeviceKind> kinds = device_kinds();
  return std::find(kinds.begin(), kinds.end(), row.target) != kinds.end();
}

std::string first_difference(const std::vector<double>& actual, const std::vector<double>& expected,
                             double tolerance) {
  if (actual.size() != expected.size()) {
    return fmt::format("{} values instead of {}", actual.size(), expected.size());
  }
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double a = actual[i], e = expected[i];
    // Infinities agree by ==: their difference is NaN.
    if (a == e || (std::isnan(a) && std::isnan(e)) || std::abs(a - e) <= tolerance) continue;
    return fmt::format("[{}] is {}, expected {} within {}", i, a, e, tolerance);
  }
  return "";
}

}  // namespace warpline::test
