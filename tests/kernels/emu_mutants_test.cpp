// Every __syncthreads and __syncwarp of the production kernels is needed, and the checks see it: each is
// taken out, one at a time, and a check must fail. A barrier that nothing here stops at would be one without
// a test: the sources are read for them.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernels/emu/check/checker.h"
#include "kernels/emu/check/report.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/random_values.h"
#include "tests/support/window_shapes.h"

using namespace warpline;
using namespace warpline::test;

namespace {

using emu::check::Checker;
constexpr DType kFloat = DType::Float32;

struct Run {
  std::string name;
  std::function<void()> call;
};

template <class Op, class Call>
void add_runs(std::vector<Run>& runs, const typename Op::Args& args, Call call) {
  for (const kernels::Row& row : kernels::table()) {
    if (row.target != DeviceKind::EmuChecked || row.op != Op::name || row.dtype != kFloat) continue;
    if (row.supports != nullptr && !row.supports(&args)) continue;
    const Launch<Op> launch(row, 1);
    runs.push_back({fmt::format("{} {}", row.op, row.variant), [=] { call(launch); }});
  }
}

Guarded<float> numbers(std::int64_t count) { return random_values<float>(count, Data::Reals, 2); }

// Each row of the ops whose threads work together, on shapes of more than one tile.
std::vector<Run> all_runs() {
  std::vector<Run> runs;
  for (const GemmArgs& args : {GemmArgs{70, 68, 72}, GemmArgs{20, 16, 600}}) {
    add_runs<kernels::Gemm>(runs, args, [=](const auto& gemm) {
      const auto a = numbers(args.m * args.k), b = numbers(args.k * args.n);
      auto c = unwritten<float>(args.m * args.n);
      gemm(a.data(), b.data(), c.data(), args);
    });
  }
  const Conv2dArgs conv = conv2d_args(3, 18, 20, 1, {{9, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}});
  const auto x = numbers(x_size(conv)), weight = numbers(weight_size(conv)), dy = numbers(y_size(conv));
  add_runs<kernels::Conv2dForward>(runs, conv, [=](const auto& forward) {
    auto y = unwritten<float>(y_size(conv));
    forward(x.data(), weight.data(), nullptr, y.data(), conv);
  });
  add_runs<kernels::Conv2dBackwardInput>(runs, conv, [=](const auto& backward) {
    auto dx = unwritten<float>(x_size(conv));
    backward(dy.data(), weight.data(), dx.data(), conv);
  });
  add_runs<kernels::Conv2dBackwardWeight>(runs, conv, [=](const auto& backward) {
    auto dweight = unwritten<float>(weight_size(conv));
    backward(dy.data(), x.data(), dweight.data(), conv);
  });
  add_runs<kernels::Conv2dBackwardBias>(runs, conv, [=](const auto& backward) {
    auto dbias = unwritten<float>(conv.filters);
    backward(dy.data(), dbias.data(), conv);
  });
  // Long rows; and more columns than the grid has, so that a block takes several rounds.
  for (const auto& [rows, columns, over_rows] :
       {std::tuple{30, 1100, false}, std::tuple{40, 135'000, true}}) {
    ReduceArgs args;
    args.dims = 2;
    args.shape = {rows, columns};
    args.reduced = {over_rows, !over_rows};
    const std::int64_t cells = over_rows ? columns : rows, count = std::int64_t{rows} * columns;
    add_runs<kernels::Sum>(runs, args, [=](const auto& sum) {
      const auto values = numbers(count);
      auto y = unwritten<float>(cells);
      sum(values.data(), y.data(), args);
    });
  }
  const AxisArgs axis{3, 2100, 1};
  add_runs<kernels::LogSoftmaxForward>(runs, axis, [=](const auto& forward) {
    const auto values = numbers(6300);
    auto y = unwritten<float>(6300);
    forward(values.data(), y.data(), axis);
  });
  add_runs<kernels::LogSoftmaxBackward>(runs, axis, [=](const auto& backward) {
    const auto gradient = numbers(6300), y = numbers(6300);
    auto dx = unwritten<float>(6300);
    backward(gradient.data(), y.data(), dx.data(), axis);
  });
  add_runs<kernels::Max>(runs, axis, [=](const auto& max) {
    const auto values = numbers(6300);
    auto y = unwritten<float>(3);
    auto indices = unwritten<std::int64_t>(3);
    max(values.data(), y.data(), indices.data(), axis);
  });
  const NllArgs nll{2000, 5, 1};
  add_runs<kernels::NllForward>(runs, nll, [=](const auto& forward) {
    const auto values = numbers(10'000);
    const Guarded<std::int64_t> target(2000, 3);
    auto loss = unwritten<float>(1), total = unwritten<float>(1);
    TargetError error;
    forward(values.data(), target.data(), nullptr, loss.data(), total.data(), &error, nll);
  });
  return runs;
}

// Places of calls in the kernels' sources, as the emulator names them.
std::set<std::string> sites_in_sources() {
  std::set<std::string> sites;
  const std::filesystem::path root(WARPLINE_SOURCE_ROOT);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "kernels" / "cuda")) {
    const std::string extension = entry.path().extension();
    if (extension != ".cu" && extension != ".h") continue;
    std::ifstream file(entry.path());
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
      line.erase(std::min(line.size(), line.find("//")));
      for (const char* call : {"__syncthreads()", "__syncwarp("}) {
        if (line.find(call) == std::string::npos) continue;
        sites.insert(fmt::format("{}:{}", std::filesystem::relative(entry.path(), root).string(), number));
      }
    }
  }
  return sites;
}

std::string name_of_site(const emu::Site& site) {
  const std::string place = emu::to_string(site);
  return place.substr(place.rfind("kernels/cuda/"));
}

// Reports of a run with the barrier at `site` taken out.
std::size_t reports_without(const Run& run, const emu::Site& site) {
  emu::check::Capture capture;
  Checker::instance().remove(site);
  try {
    run.call();
  } catch (const emu::KernelError&) {
    // the reports say more
  }
  Checker::instance().remove(std::nullopt);
  return capture.take().size();
}

}  // namespace

TEST_CASE("no barrier of the production kernels can be taken out unseen", "[emu][check][mutants]") {
  std::map<std::string, std::vector<std::pair<const Run*, emu::Site>>> stops;
  const std::vector<Run> runs = all_runs();
  for (const Run& run : runs) {
    INFO(run.name);
    Checker::instance().visited_sites();
    emu::check::Capture capture;
    run.call();
    CHECK(capture.take().empty());
    for (const emu::Site& site : Checker::instance().visited_sites()) {
      stops[name_of_site(site)].emplace_back(&run, site);
    }
  }
  std::size_t caught = 0;
  const std::set<std::string> sites = sites_in_sources();
  CHECK(!sites.empty());
  for (const std::string& site : sites) {
    INFO(site);
    CHECK(stops.count(site) == 1);
    const bool seen = std::any_of(stops[site].begin(), stops[site].end(), [](const auto& stop) {
      return reports_without(*stop.first, stop.second) != 0;
    });
    CHECK(seen);
    caught += seen ? 1 : 0;
  }
  fmt::print("[mutants] {} of {} barriers: a check fails without it\n", caught, sites.size());
}
