// CUDA promises no order of threads, warps and blocks: each row of the table, on the checked emulator, gives
// no report and the same bits in each of twenty orders.
#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/emu/check/report.h"
#include "kernels/runtime.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/random_values.h"
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
  };
  return list;
}

// What the row writes.
std::vector<std::byte> outputs_of(const kernels::Row& row, const tools::Problem& problem) {
  const Stream& stream = stream_of(kKind, 1);
  Runtime& device = runtime(kKind);
  std::vector<void*> pointers;
  for (const tools::Operand& operand : problem.operands) {
    pointers.push_back(operand.absent ? nullptr : device.allocate(0, operand.values.size()));
    if (operand.absent) continue;
    REQUIRE(pointers.back() != nullptr);
    device.claim(pointers.back(), operand.values.size(), stream);
    device.host_to_device(pointers.back(), operand.values.data(), operand.values.size(), stream);
  }
  problem.run(row, pointers, stream);
  device.synchronize(stream);
  std::vector<std::byte> written;
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    if (pointers[i] == nullptr) continue;
    const std::size_t bytes = problem.operands[i].values.size();
    if (problem.operands[i].output) {
      written.resize(written.size() + bytes);
      device.device_to_host(written.data() + written.size() - bytes, pointers[i], bytes);
    }
    device.disclaim(pointers[i], bytes, stream);
    device.synchronize(stream);
    device.release(0, pointers[i], bytes);
  }
  return written;
}

}  // namespace

TEST_CASE("each row gives no report and the same bits in every order", "[emu][check]") {
  std::set<std::string> rows;
  std::size_t runs = 0;
  const auto check = [&](const kernels::Row& row, const auto& run) {
    const std::string name = fmt::format("{} {}", row.op, name_of(row));
    INFO(name);
    rows.insert(name);
    emu::check::Capture capture;
    std::vector<std::byte> first;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      INFO("order seed " << seed);
      const OrderSeed order(seed);
      const std::vector<std::byte> bits = run();
      if (seed == 0) first = bits;
      REQUIRE(!bits.empty());
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
        if (row.supports == nullptr || row.supports(problem.args.get()))
          check(row, [&] { return outputs_of(row, problem); });
      }
    }
  }
  // Rows for shapes that no problem has: operands of one shape, sums of columns.
  const auto x = random_values<float>(2100, Data::Reals, 1), y = random_values<float>(2100, Data::Reals, 2);
  BroadcastArgs same;
  same.dims = 1;
  same.shape[0] = 2100;
  same.stride_a[0] = same.stride_b[0] = 1;
  same.count = 2100;
  ReduceArgs columns;
  columns.dims = 2;
  columns.shape = {300, 7};
  columns.reduced = {true, false};
  const auto each = [&](auto op, const auto& args, std::int64_t cells, const auto& call) {
    using Op = decltype(op);
    for (const kernels::Row& row : kernels::table()) {
      if (row.target != kKind || row.op != Op::name || row.dtype != DType::Float32) continue;
      if (row.supports != nullptr && !row.supports(&args)) continue;
      check(row, [&] {
        auto z = unwritten<float>(cells);
        call(Launch<Op>(row, 1), z.data());
        return outputs(z).bits;
      });
    }
  };
  each(kernels::Add(), same, 2100, [&](const auto& add, float* z) { add(x.data(), y.data(), z, same); });
  each(kernels::Mul(), same, 2100, [&](const auto& mul, float* z) { mul(x.data(), y.data(), z, same); });
  each(kernels::Sum(), columns, 7, [&](const auto& sum, float* z) { sum(x.data(), z, columns); });
  for (const kernels::Row& row : kernels::table()) {
    if (row.target != kKind || row.dtype != DType::Float32) continue;
    const std::string name = fmt::format("{} {}", row.op, name_of(row));
    INFO(name << " takes none of these shapes");
    CHECK(rows.count(name) == 1);
  }
  fmt::print("[orders] {} rows in {} orders, {} runs: the same bits, no report\n", rows.size(), kSeeds, runs);
}
