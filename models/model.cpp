#include "models/model.h"

#include <fmt/format.h>

#include "kernels/error.h"

namespace warpline {
namespace {

struct Row {
  std::string_view name;
  Model (*make)(int depth);
};

constexpr Row kModels[] = {
    {"net", [](int) { return make_net(); }},
    {"mlp", [](int) { return make_mlp(); }},
    {"vgg", make_vgg},
};

}  // namespace

Model make_model(std::string_view name, int depth) {
  std::vector<std::string_view> names;
  for (const Row& row : kModels) {
    if (row.name == name) return row.make(depth);
    names.push_back(row.name);
  }
  fail<ValueError>("model", "there is no model '{}'; choose {}", name, fmt::join(names, ", "));
}

}  // namespace warpline
