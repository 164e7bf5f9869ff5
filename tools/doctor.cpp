// `warpline doctor`: what this build and this machine can do, and how to get what is missing.
#include <cstdio>
#include <map>
#include <string>
#include <thread>

#include <fmt/core.h>

#include "engine/context.h"
#include "engine/tensor.h"
#include "kernels/cpu/simd/select.h"
#include "kernels/cuda/support.h"
#include "kernels/error.h"
#include "kernels/table.h"
#include "models/load_dataset.h"
#include "models/mnist.h"
#include "parallel/backends.h"
#include "parallel/schedule.h"
#include "tools/commands.h"
#include "tools/versions.h"

namespace warpline::tools {
namespace {

// "runs kernels", or why it does not.
std::string try_device(Device device) {
  try {
    Context context(device);
    const double sum = Tensor::full(context, {}, 2.0).item();
    return sum == 2.0 ? "runs kernels" : fmt::format("computes wrongly: {} is to be 2", sum);
  } catch (const Error& error) {
    return error.what();
  }
}

void print_devices() {
  std::map<DeviceKind, int> rows;
  for (const kernels::Row& row : kernels::table()) ++rows[row.target];
  fmt::print("devices\n");
  fmt::print("  ref        {:3} kernels, slow and obvious; float32 and float64\n", rows[DeviceKind::Ref]);
  fmt::print("  cpu        {:3} kernels, loops for {}; {} cores\n", rows[DeviceKind::Cpu],
             kernels::simd().name, std::thread::hardware_concurrency());
  fmt::print("  cuda       {:3} CUDA kernels on {} GPUs\n", rows[DeviceKind::Cuda],
             cuda::support().gpus.size());
  fmt::print("  emu        {:3} CUDA kernels on emulated devices; {}; --check watches every memory access\n",
             rows[DeviceKind::Emu], try_device({DeviceKind::Emu, 0}));
}

// The first line that a shell command prints; empty where it fails.
std::string first_line(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string output;
  char buffer[256];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) output += buffer;
  return pclose(pipe) == 0 ? output.substr(0, output.find('\n')) : "";
}

// What becomes of a program, in a folder of its own, that is removed again.
const char* build_and_run(const std::string& compile, const char* file, const char* program) {
  const std::string reached = first_line(fmt::format(R"(d=$(mktemp -d) || exit 1; trap 'rm -rf "$d"' EXIT
echo '{2}' >"$d/{1}" && cd "$d" && {0} "{1}" -o a >/dev/null 2>&1 || {{ echo nothing; exit; }}
./a >/dev/null 2>&1 && echo all || echo linked)",
                                                     compile, file, program));
  if (reached == "all") return "compiles, links and runs";
  return reached == "linked" ? "compiles and links, but does not run" : "does not compile or link";
}

void print_compilers() {
  fmt::print("compilers\n");
  int found = 0;
  for (const char* compiler : {"g++", "clang++"}) {
    const std::string version = first_line(fmt::format("{} --version 2>/dev/null", compiler));
    if (version.empty()) continue;
    ++found;
    fmt::print("  {:<10} {}; a C++20 program {}\n", compiler, version,
               build_and_run(fmt::format("{} -std=c++20", compiler), "a.cpp", R"(#include <span>
int main() { int two[2] = {}; return std::span(two).size() == 2 ? 0 : 1; })"));
  }
  if (found == 0) fmt::print("  none; to build warpline or against it: apt-get install g++\n");
}

void print_cuda() {
  const cuda::Support& found = cuda::support();
  fmt::print("CUDA\n");
  const std::string nvcc = first_line(
      R"(for d in "$CUDA_HOME" "$CUDA_PATH" /usr/local/cuda; do PATH=$PATH:$d/bin; done; command -v nvcc)");
  if (nvcc.empty()) {
    fmt::print(
        "  nvcc       none in PATH, CUDA_HOME, CUDA_PATH and /usr/local/cuda: install the CUDA Toolkit\n");
  } else {
    fmt::print("  nvcc       {}, {}; a CUDA program {}\n", nvcc,
               first_line(fmt::format("'{}' --version | sed -n 's/.*release //p'", nvcc)),
               build_and_run(fmt::format("'{}'", nvcc), "a.cu", R"(__global__ void one(int* x) { *x = 1; }
int main() {
  int host = 0, *device;
  cudaMalloc(&device, sizeof host);
  one<<<1, 1>>>(device);
  return cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess && host == 1 ? 0 : 1;
})"));
  }
  if (!found.runtime.empty()) {
    fmt::print("  runtime    {}, linked into this build, with kernels for compute capability {}\n",
               found.runtime, found.architectures);
    fmt::print("  driver     {}\n", found.driver.empty() ? "none" : "serves CUDA " + found.driver);
  }
  for (std::size_t index = 0; index < found.gpus.size(); ++index) {
    fmt::print("  cuda:{:<5} {}; {}\n", index, found.gpus[index],
               try_device({DeviceKind::Cuda, static_cast<int>(index)}));
  }
  if (!found.missing.empty()) fmt::print("  missing    {}\n", found.missing);
}

void print_data() {
  fmt::print("data\n");
  try {
    const std::shared_ptr<const Dataset> data = load_dataset({});
    fmt::print("  {}, {} training and {} test images\n", data->name, data->train.count(), data->test.count());
    if (data->name == "builtin")
      fmt::print("  MNIST was not found; tools/get_mnist fetches it into data/mnist\n");
  } catch (const BadInput& error) {
    fmt::print("  unusable: {}\n", error.what());
  }
}

void doctor() {
  fmt::print("warpline {}, built by {}\n", WARPLINE_VERSION, compiler_version());
  print_devices();
  fmt::print("libraries: compiled against, running\n");
  for (const LibraryVersion& library : library_versions()) {
    fmt::print("  {:<13} {:<9} {:<9} {}{}\n", library.name, library.compiled, library.running,
               library.purpose,
               library.compiled == library.running ? "" : "  (differ: rebuild against what is installed)");
  }
  print_compilers();
  print_cuda();
  fmt::print("back ends\n");
  for (const parallel::Backend& backend : parallel::backends()) {
    fmt::print("  {:<10} ranks are {}; {}\n", backend.name, backend.ranks, backend.devices);
  }
  fmt::print("schedules\n");
  for (const parallel::Schedule& schedule : parallel::schedules()) {
    fmt::print("  {:<10} {}\n", schedule.name, schedule.what);
  }
  print_data();
}

}  // namespace

void add_doctor(Command program) {
  const Command command =
      program.add_command("doctor", "devices, libraries, data: what is there, and how to get the rest");
  command.on_run(doctor);
}

}  // namespace warpline::tools
