// CUDA promises no order of threads, warps and blocks: each row of the table, on the checked emulator, gives
// no report and the same bits in each of twenty orders.
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/emu/check/report.h"
#include "tests/support/kernel_rows.h"
#include "tools/device_operands.h"
#include "tools/kernel_check.h"
#include "tools/kernel_problems.h"

using namespace warpline;
using namespace warpline::test;

namespace {

constexpr std::uint64_t kSeeds = 20;
constexpr DeviceKind kKind = DeviceKind::EmuChecked;

// Of more than one tile, warp and block, by what their numbers are.
const std::map<std::string_view, std::vector<std::string>>& shapes() {
  static const std::map<std::string_view, std::vector<std::string>> list{
      {"m x n x k", {"66x68x12", "9x17x600"}},
      {"batch x channels x size x filters x kernel", {"3x2x9x5x3", "2x18x7x20x3"}},
      {"planes x size x window", {"9x11x2"}},
      {"elements", {"1003"}},
      {"rows x classes", {"70x10", "3x1100"}},
      {"rows of a x columns x rows of b, 1 or all", {"7x300x1", "7x300x7"}},
      {"rows kept x rows summed x columns", {"1x300x7", "70x10x1", "3x1100x1"}},
  };
  return list;
}

tools::Outputs outputs_of(const kernels::Row& row, const tools::Problem& problem) {
  const Stream& stream = stream_of(kKind, 1);
  const tools::DeviceOperands operands(problem, stream);
  problem.run(row, operands.pointers(), stream);
  return operands.outputs(problem);
}

}  // namespace

TEST_CASE("each row gives no report and the same bits in every order", "[emu][check]") {
  std::set<std::string> rows;
  std::size_t runs = 0;
  const auto check = [&](const kernels::Row& row, const tools::Problem& problem) {
    const std::string name = fmt::format("{} {}", row.op, name_of(row));
    INFO(name);
    rows.insert(name);
    emu::check::Capture capture;
    tools::Outputs first;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      INFO("order seed " << seed);
      const OrderSeed order(seed);
      const tools::Outputs bits = outputs_of(row, problem);
      if (seed == 0) first = bits;
      CHECK(bits == first);
      for (const emu::check::Report& report : capture.take()) FAIL_CHECK(report.text);
      ++runs;
    }
  };
  for (const std::string_view op : tools::problem_ops()) {
    for (const std::string& shape : shapes().at(tools::shape_legend(op))) {
      INFO(shape);
      const tools::Problem problem = tools::make_problem(op, shape);
      for (const kernels::Row& row : kernels::table()) {
        if (row.target != kKind || row.op != op || row.dtype != problem.dtype) continue;
        if (row.supports == nullptr || row.supports(problem.args.get())) check(row, problem);
      }
    }
  }
  for (const kernels::Row& row : kernels::table()) {
    if (row.target != kKind || row.dtype != DType::Float32) continue;
    const std::string name = fmt::format("{} {}", row.op, name_of(row));
    INFO(name << " takes none of these shapes");
    CHECK(rows.count(name) == 1);
  }
  fmt::print("[orders] {} rows in {} orders, {} runs: the same bits, no report\n", rows.size(), kSeeds, runs);
}
