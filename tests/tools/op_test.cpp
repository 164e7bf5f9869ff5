// `warpline op`: one op and its gradients from a file, and refusals that write nothing.
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "engine/context.h"
#include "engine/safetensors.h"
#include "kernels/cuda/support.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

using namespace warpline;
using test::ProgramResult;
using test::TemporaryFolder;

namespace {

ProgramResult op(const std::string& arguments) {
  return test::run_program(fmt::format("'{}' op {}", WARPLINE_PROGRAM, arguments));
}

template <class T>
HostTensor tensor(Context& context, const std::string& name, const std::vector<T>& values,
                  const Shape& shape) {
  return to_host_tensor(name, Tensor::from_host(context, values, shape));
}

std::vector<float> values(Context& context, const std::string& path, const std::string& name) {
  for (const HostTensor& found : read_safetensors(path).tensors) {
    if (found.name == name) return to_tensor(context, found).to_host<float>();
  }
  return {};
}

// What follows --device: all that this machine has.
std::vector<const char*> devices() {
  std::vector<const char*> all{"cpu", "ref", "emu", "emu --check"};
  if (!cuda::support().gpus.empty()) all.push_back("cuda");
  return all;
}

}  // namespace

TEST_CASE("an op and its gradients are computed from a file", "[op]") {
  Context context;
  const TemporaryFolder folder;
  SafetensorsFile in;
  in.tensors = {tensor<float>(context, "input", {1, -2, 3, 4, 5, -6}, {2, 3}),
                tensor<float>(context, "other", {10, 20, 30}, {3}),
                tensor<float>(context, "grad_output", {1, 1, 1, 1, 1, 1}, {2, 3})};
  write_safetensors(folder / "in", in);
  for (const char* device : devices()) {
    const ProgramResult result =
        op(fmt::format("mul '{}' '{}' --device {}", folder / "in", folder / "out", device));
    INFO(result.errors);
    REQUIRE(result.status == 0);
    CHECK(values(context, folder / "out", "output") == std::vector<float>{10, -40, 90, 40, 100, -180});
    CHECK(values(context, folder / "out", "grad_input") == std::vector<float>{10, 20, 30, 10, 20, 30});
    CHECK(values(context, folder / "out", "grad_other") == std::vector<float>{5, 3, -3});
  }
}

TEST_CASE("a refused op writes nothing", "[op]") {
  Context context;
  const TemporaryFolder folder;
  SafetensorsFile in;
  in.tensors = {tensor<float>(context, "input", {1, 2, 3, 4}, {1, 1, 2, 2}),
                tensor<float>(context, "weight", {1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 1, 3, 3})};
  write_safetensors(folder / "in", in);
  for (const char* arguments :
       {"conv2d '{0}' '{1}'", "conv2d '{0}' '{1}' --attr stride=0",
        "conv2d '{0}' '{1}' --attr padding=1 --attr colour=2",
        "conv2d '{0}' '{1}' --attr padding=1 --attr padding=1", "relu '{0}' '{1}'", "nothing '{0}' '{1}'",
        "conv2d '{0}.missing' '{1}'", "conv2d '{0}' '{1}' --attr padding=1 --device tpu",
        "max_pool2d '{0}' '{1}'"}) {
    const ProgramResult result = op(fmt::format(fmt::runtime(arguments), folder / "in", folder / "out"));
    INFO(arguments << ": " << result.errors);
    CHECK(result.status == 2);
    CHECK(!result.errors.empty());
    CHECK(folder.entries() == 1);
  }
}

TEST_CASE("a target out of range is refused on every device, and nothing is written", "[op]") {
  Context context;
  const TemporaryFolder folder;
  SafetensorsFile in;
  in.tensors = {tensor<float>(context, "input", {1, 2, 3, 4}, {2, 2}),
                tensor<std::int64_t>(context, "target", {1, 5}, {2})};
  write_safetensors(folder / "in", in);
  for (const char* device : devices()) {
    for (const char* name : {"nll_loss", "cross_entropy"}) {
      const ProgramResult result =
          op(fmt::format("{} '{}' '{}' --device {}", name, folder / "in", folder / "out", device));
      INFO(name << " " << device);
      CHECK(result.status == 2);
      CHECK(result.errors.find("row 1 holds 5, for 2 classes") != std::string::npos);
      CHECK(folder.entries() == 1);
    }
  }
}

TEST_CASE("an axis far out is refused, not cut to fewer bits", "[op]") {
  Context context;
  const TemporaryFolder folder;
  SafetensorsFile in;
  in.tensors = {tensor<float>(context, "input", {1, 2, 3, 4}, {2, 2})};
  write_safetensors(folder / "in", in);
  const std::string command = fmt::format("log_softmax '{}' '{}' --attr dim=", folder / "in", folder / "out");
  CHECK(op(command + "0").status == 0);
  CHECK(op(command + "4294967296").status == 2);
}

TEST_CASE("the list names every op", "[op]") {
  const ProgramResult result = op("--list");
  CHECK(result.status == 0);
  for (const char* name : {"relu(", "max_pool2d(", "conv2d(", "linear(", "matmul(", "log_softmax(",
                           "nll_loss(", "cross_entropy(", "add(", "mul(", "sum(", "mean("}) {
    CHECK(result.out.find(name) != std::string::npos);
  }
}
