#include "parallel/backends.h"

#include <string>

#include "kernels/error.h"

namespace warpline::parallel {

const std::vector<Backend>& backends() {
  static const std::vector<Backend> rows{
      {"local", "threads of one process", "ref, cpu, emu; cuda with one rank"},
  };
  return rows;
}

const Backend& find_backend(std::string_view name) {
  std::string known;
  for (const Backend& backend : backends()) {
    if (backend.name == name) return backend;
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", backend.name, backend.ranks);
  }
  fail<ValueError>("backend", "there is no back end '{}'; there is: {}", name, known);
}

void check_devices(const Backend& backend, DeviceKind kind, int ranks) {
  if (kind != DeviceKind::Cuda || ranks == 1) return;
  fail<ValueError>(
      "backend",
      "{} serves one rank on cuda, not {}: messages between GPUs need NCCL, which is not there yet; "
      "use one rank (--strategy serial), or --device emu",
      backend.name, ranks);
}

}  // namespace warpline::parallel
