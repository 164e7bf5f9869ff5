// Runs kernel tests on every row of the table, or on those of --device: each target and variant. A sweep
// compares each row with `ref` over many shapes, looks at the canaries, and asks for the same bits on each
// run with 1, 2 and 3 threads.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "kernels/emu/order.h"
#include "kernels/table.h"
#include "kernels/thread_pool.h"
#include "tests/support/device_mirror.h"
#include "tests/support/guarded.h"

namespace warpline::test {

// A stream with a pool of that many threads, which lives until the program ends.
const Stream& stream_of(DeviceKind target, int threads);

std::string name_of(const kernels::Row& row);  // "cpu/blocked float32"
bool is_asked_for(const kernels::Row& row);    // by --device

// One row, ready to be called: launch(a, b, c, args).
template <class Op>
class Launch {
 public:
  Launch(const kernels::Row& row, int threads) : row_(&row), threads_(threads) {}
  const kernels::Row& row() const { return *row_; }

  template <class... Arguments>
  void operator()(const Arguments&... arguments) const {
    const Stream& stream = stream_of(row_->target, threads_);
    const auto function = reinterpret_cast<typename Op::Function>(row_->function);
    if (is_host(row_->target)) {
      function(arguments..., stream);
      return;
    }
    DeviceMirror mirror(stream);
    function(mirror.translate(arguments)..., stream);
    mirror.finish();
  }

 private:
  const kernels::Row* row_;
  int threads_;
};

// Calls body(launch) for each row of the op and dtype that supports the arguments; two threads.
template <class Op, class Body>
void for_each_row(DType dtype, const typename Op::Args& args, Body body) {
  for (const kernels::Row& row : kernels::table()) {
    if (row.op != Op::name || row.dtype != dtype || !is_asked_for(row)) continue;
    if (row.supports != nullptr && !row.supports(&args)) continue;
    INFO(name_of(row));
    body(Launch<Op>(row, 2));
  }
}

// The emulator's order of threads, blocks and streams while it lives.
class OrderSeed {
 public:
  explicit OrderSeed(std::uint64_t seed) : before_(emu::order_seed()) { emu::set_order_seed(seed); }
  ~OrderSeed() { emu::set_order_seed(before_); }
  OrderSeed(const OrderSeed&) = delete;
  OrderSeed& operator=(const OrderSeed&) = delete;

 private:
  std::uint64_t before_;
};

// What one run wrote.
struct Outputs {
  std::vector<std::byte> bits;
  std::vector<double> values;
  bool intact = true;
};

template <class... T>
Outputs outputs(const Guarded<T>&... arrays) {
  Outputs result;
  const auto append = [&](const auto& array) {
    const auto* bytes = reinterpret_cast<const std::byte*>(array.begin());
    result.bits.insert(result.bits.end(), bytes, reinterpret_cast<const std::byte*>(array.end()));
    result.values.insert(result.values.end(), array.begin(), array.end());
    result.intact = result.intact && array.intact();
  };
  (append(arrays), ...);
  return result;
}

// Empty when all values agree within the tolerance (NaN agrees with NaN only), else says where they do not.
std::string first_difference(const std::vector<double>& actual, const std::vector<double>& expected,
                             double tolerance);

template <class Op, class T>
class Sweep {
 public:
  // Checked kernels, which take long, run in every checked_stride-th case.
  explicit Sweep(int checked_stride = 1) : checked_stride_(checked_stride) {}

  // run(launch) fills the outputs afresh, launches, and returns outputs(...).
  template <class Run>
  void check(const typename Op::Args& args, double tolerance, Run run) {
    ++cases_;
    const Outputs expected = run(Launch<Op>(kernels::find(Op::name, DeviceKind::Ref, dtype_of<T>, &args), 1));
    for (const kernels::Row& row : kernels::table()) {
      if (row.op != Op::name || row.dtype != dtype_of<T> || !is_asked_for(row)) continue;
      int& ran = ran_[name_of(row)];
      if (row.supports != nullptr && !row.supports(&args)) continue;
      if (row.target == DeviceKind::EmuChecked && cases_ % checked_stride_ != 0) continue;
      ++ran;
      INFO(name_of(row));
      // Devices take another order of threads and blocks for each case.
      const OrderSeed order(is_host(row.target) ? 0 : static_cast<std::uint64_t>(cases_));
      const Outputs once = run(Launch<Op>(row, 1));
      CHECK(once.intact);
      CHECK(first_difference(once.values, expected.values, tolerance) == "");
      // As a bool: Catch2 would print every byte.
      const auto same_bits = [&](const Outputs& again) { return again.bits == once.bits; };
      if (row.target == DeviceKind::Ref) {
        CHECK(same_bits(expected));
        continue;
      }
      if (!is_host(row.target)) {
        const OrderSeed another(static_cast<std::uint64_t>(cases_) + 1);
        if (row.target != DeviceKind::EmuChecked) CHECK(same_bits(run(Launch<Op>(row, 3))));
        continue;
      }
      for (const int threads : {1, 2, 3}) {
        INFO(threads << " threads");
        CHECK(same_bits(run(Launch<Op>(row, threads))));
      }
    }
  }

  void report() const {
    for (const auto& [row, ran] : ran_) fmt::print("{} {}: {} of {} cases\n", Op::name, row, ran, cases_);
  }

 private:
  int checked_stride_;
  int cases_ = 0;
  std::map<std::string, int> ran_;
};

}  // namespace warpline::test
