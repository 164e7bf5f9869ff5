#include "parallel/backends.h"

#include <string>

#include "kernels/error.h"

namespace warpline::parallel {

const std::vector<Backend>& backends() {
  static const std::vector<Backend> rows{
      {"local", "threads of one process", "ref, cpu"},
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

}  // namespace warpline::parallel
