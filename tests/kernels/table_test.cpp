#include "kernels/table.h"

#include <set>
#include <tuple>

#include <catch2/catch.hpp>

using namespace warpline;
using Catch::Contains;

TEST_CASE("find gives a kernel of the op, target and dtype asked for", "[table]") {
  for (const DType dtype : {DType::Float32, DType::Float64, DType::UInt32}) {
    const GemmArgs args;
    const kernels::Row& row = kernels::find("gemm", DeviceKind::Ref, dtype, &args);
    CHECK(row.op == "gemm");
    CHECK(row.target == DeviceKind::Ref);
    CHECK(row.dtype == dtype);
  }
}

// Some ops have a fast variant for common sizes only, listed behind the general one.
TEST_CASE("dispatch takes the last row whose constraint holds", "[table]") {
  int constrained = 0;
  for (const std::int64_t kernel : {1, 2, 3, 20}) {
    MaxPool2dArgs args;
    args.planes = 2;
    args.height = args.width = 20;
    args.kernel_h = args.kernel_w = args.stride_h = args.stride_w = kernel;
    args.out_h = args.out_w = 20 / kernel;
    for (const DeviceKind target : {DeviceKind::Ref, DeviceKind::Cpu, DeviceKind::Emu}) {
      const kernels::Row* last = nullptr;
      for (const kernels::Row& row : kernels::table()) {
        if (row.op != "max_pool2d_forward" || row.target != target || row.dtype != DType::Float32) continue;
        const bool fits = row.supports == nullptr || row.supports(&args);
        constrained += fits ? 0 : 1;
        if (fits) last = &row;
      }
      REQUIRE(last != nullptr);
      CHECK(&kernels::find("max_pool2d_forward", target, DType::Float32, &args) == last);
    }
  }
  CHECK(constrained > 0);
}

TEST_CASE("a dtype without a kernel is an error that lists those that there are", "[table]") {
  const GemmArgs args;
  CHECK_THROWS_AS(kernels::find("gemm", DeviceKind::Ref, DType::Int64, &args), DTypeError);
  CHECK_THROWS_WITH(kernels::find("gemm", DeviceKind::Ref, DType::Int64, &args),
                    "[gemm] there is no int64 kernel on ref: there are float32, float64, uint32; convert the "
                    "tensors to one "
                    "of these");
  CHECK_THROWS_WITH(kernels::find("frobnicate", DeviceKind::Ref, DType::Float32, &args),
                    Contains("[frobnicate]") && Contains("on ref"));
}

TEST_CASE("each row of the table has a name of its own and a function", "[table]") {
  std::set<std::tuple<std::string_view, std::string_view, DeviceKind, DType>> names;
  for (const kernels::Row& row : kernels::table()) {
    INFO(row.op << " " << row.variant << " " << to_string(row.target) << " " << to_string(row.dtype));
    CHECK(row.function != nullptr);
    CHECK(names.emplace(row.op, row.variant, row.target, row.dtype).second);
  }
}

TEST_CASE("the definition of each op takes all arguments", "[table]") {
  for (const kernels::Row& row : kernels::ref_rows()) CHECK(row.supports == nullptr);
}

TEST_CASE("a dtype has its size and its name", "[dtype]") {
  CHECK(size_of(dtype_of<float>) == sizeof(float));
  CHECK(size_of(dtype_of<double>) == sizeof(double));
  CHECK(size_of(dtype_of<std::int64_t>) == sizeof(std::int64_t));
  CHECK(size_of(dtype_of<std::int32_t>) == sizeof(std::int32_t));
  CHECK(size_of(dtype_of<std::uint8_t>) == 1);
  CHECK(size_of(dtype_of<std::uint32_t>) == sizeof(std::uint32_t));
  CHECK(to_string(DType::Float32) == "float32");
  CHECK(to_string(DType::UInt8) == "uint8");
}
