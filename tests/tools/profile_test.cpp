// `warpline profile`: the counts of the kernels that a person can name, the same each time; what cannot be is
// refused with what there is.
#include <algorithm>
#include <map>
#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "kernels/table.h"
#include "tests/support/run_json.h"
#include "tools/kernel_problems.h"

using Catch::Matchers::Contains;
using warpline::test::run_json;
using warpline::test::run_program;

namespace {

auto profile(const std::string& arguments) {
  return run_program(std::string("'") + WARPLINE_PROGRAM + "' profile " + arguments);
}

}  // namespace

TEST_CASE("profile counts the requests of a ladder's steps", "[profile][tools]") {
  const nlohmann::json json = run_json("profile gemm --shape 64x64x64");
  REQUIRE(json["kernels"].size() == 6);  // split_k wants a longer sum
  const nlohmann::json& naive = json["kernels"][0];
  CHECK(naive["op"] == "gemm");
  CHECK(naive["variant"] == "naive");
  CHECK(naive["flops"] == 2.0 * 64 * 64 * 64);
  CHECK(naive["total"]["global_loads"]["requests"] == 2 * 64 * 64 * 64 / 32);
  CHECK(naive["total"]["global_loads"]["sectors"] == 33 * 64 * 64 * 64 / 32);
  CHECK(naive["bytes_touched"] == 3 * 64 * 64 * 4);
  CHECK(json["kernels"][2]["total"]["barriers"] == 4 * 4 * 2 * 2);

  // 2 x 64^3 operations on 48 KiB: an a100's arithmetic is the bound. At 32^3, half as many on each byte, its
  // memory is.
  CHECK(naive["bound_flops_per_second"] == 19.5e12);
  const nlohmann::json small = run_json("profile gemm/naive --shape 32x32x32");
  CHECK(small["kernels"][0]["bound_flops_per_second"] == 65536.0 / 12288 * 2039e9);
}

TEST_CASE("a transposed a is what the naive product reads well", "[profile][tools]") {
  const auto sectors = [](const std::string& shape) -> nlohmann::json {
    return run_json("profile gemm/naive --shape " + shape)["kernels"][0]["total"]["global_loads"]["sectors"];
  };
  const int warp_steps = 32 * 32 * 32 / 32;
  CHECK(sectors("32x32x32") == (32 + 1) * warp_steps);
  CHECK(sectors("32x32x32-tn") == (4 + 1) * warp_steps);
  CHECK(sectors("32x32x32-nt") == (32 + 1) * warp_steps);
}

TEST_CASE("kernels of several ops stand in one table", "[profile][tools]") {
  const nlohmann::json kernels = run_json("profile gemm/coalesced gemm/naive --shape 8x8x8")["kernels"];
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0]["variant"] == "coalesced");
  CHECK(kernels[1]["variant"] == "naive");
  const auto words = profile("nll_backward log_softmax_backward/thread --shape 4x10");
  CHECK(words.status == 0);
  CHECK_THAT(words.out, Contains("nll_backward, log_softmax_backward/thread, rows x classes = 4x10"));
  CHECK_THAT(words.out,
             Contains("nll_backward_kernel") && Contains("\nlog_softmax_backward_kernel<float, ThreadTeam>"));
}

TEST_CASE("every op of the table can be profiled at its first shape, twice with the same words",
          "[profile][tools]") {
  for (const std::string_view op : warpline::tools::problem_ops()) {
    INFO(op);
    const std::string arguments = std::string(op) + " --source";
    const auto first = profile(arguments);
    CHECK(first.status == 0);
    CHECK(first.errors.empty());
    CHECK_THAT(first.out, Contains("kernels/cuda/"));
    if (op == "sum" || op == "log_softmax_forward") CHECK(profile(arguments).out == first.out);
  }
}

TEST_CASE("a training step of a model is profiled", "[profile][tools]") {
  const nlohmann::json json = run_json("profile --model mlp --batch-size 3");
  std::map<std::string, int> launches;
  double gemm_flops = 0;
  for (const nlohmann::json& kernel : json["kernels"]) {
    launches[kernel["op"]] += kernel["launches"].get<int>();
    if (kernel["op"] == "gemm") gemm_flops += kernel["flops"].get<double>();
  }
  // 784 -> 128 -> 64 -> 10: outputs, weight gradients, and input gradients but for the first layer's.
  CHECK(gemm_flops == 2.0 * 3 * (3 * (784 * 128 + 128 * 64 + 64 * 10) - 784 * 128));
  CHECK(launches["gemm"] == 8);
  CHECK(launches["relu_forward"] == 2);
  CHECK(launches["relu_backward"] == 2);
  CHECK(launches["cross_entropy_backward"] == 1);
  CHECK(launches["sgd_step"] == 6);
  CHECK(run_json("profile --model mlp --batch-size 3") == json);
}

TEST_CASE("WARPLINE_PROFILE=1 counts the kernels of any command", "[profile][tools]") {
  const std::string train = std::string("'") + WARPLINE_PROGRAM +
                            "' train --data builtin --model mlp --steps 1 --batch-size 2 --device emu";
  const auto run = run_program("WARPLINE_PROFILE=1 " + train);
  CHECK(run.status == 0);
  CHECK_THAT(run.errors, Contains("gemm_vector_loads_kernel<float>") && Contains("optimizer.cu:"));
  CHECK_THAT(run_program("WARPLINE_PROFILE=0 " + train).errors, !Contains("optimizer.cu"));
}

TEST_CASE("no op of the table is without a problem", "[profile][tools]") {
  const auto ops = warpline::tools::problem_ops();
  for (const warpline::kernels::Row& row : warpline::kernels::table()) {
    INFO(row.op);
    CHECK(std::find(ops.begin(), ops.end(), row.op) != ops.end());
  }
}

TEST_CASE("what cannot be profiled is refused with what there is", "[profile][tools]") {
  const auto refused = [](const std::string& arguments, const std::string& words) {
    INFO(arguments);
    const auto run = profile(arguments);
    CHECK(run.status == 2);
    CHECK_THAT(run.errors, Contains(words));
    CHECK(run.out.empty());
  };
  refused("", "name a kernel");
  refused("gem", "there are gemm, conv2d_forward");
  refused("gemm/fast", "there are naive, coalesced");
  refused("--model lenet", "choose net, mlp, vgg");
  refused("gemm --model net", "leave out the kernel");
  refused("gemm --batch-size 3", "--model");
  refused("--model net --batch-size 0", "at least 1");
  refused("--model net --batch-size 60001", "60001 of 60000");
  refused("gemm/naive add", "takes m x n x k, add takes rows of a");
  refused("gemm --json /nonexistent/counts.json", "/nonexistent");
  refused("gemm --gpu b9000", "there are t4, a100");
  for (const char* shape : {"64", "64x64", "64x64x64x64", "0x1x1", "-1x1x1", "64x64xx", "axbxc", "64x64x64x",
                            "1000000x1000000x10", "8x8x8-", "8x8x8-nx", "8x8x8-ntn", "-nt"})
    refused(std::string("gemm --shape ") + shape, "takes m x n x k");
  refused("conv2d_forward --shape 1x1x4x1x5", "does not fit");
  refused("relu_forward --shape 8-nt", "takes elements");
}
