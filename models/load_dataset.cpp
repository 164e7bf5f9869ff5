#include "models/load_dataset.h"

#include <array>
#include <cstdlib>
#include <utility>

#include "kernels/error.h"
#include "models/digits.h"
#include "models/mnist.h"

namespace warpline {
namespace {

constexpr std::array<std::pair<std::string_view, DataKind>, 3> kKinds = {
    {{"auto", DataKind::Auto}, {"mnist", DataKind::Mnist}, {"builtin", DataKind::Builtin}}};
constexpr const char* kVariable = "WARPLINE_DATA";
constexpr const char* kDefaultFolder = "data/mnist";

// What the user named, on the command line or in the environment.
std::optional<std::filesystem::path> named_folder(const DataOptions& options) {
  if (options.folder) return options.folder;
  const char* value = std::getenv(kVariable);
  if (value != nullptr && *value != '\0') return value;
  return {};
}

std::shared_ptr<const Dataset> mnist(const std::filesystem::path& folder) {
  return std::make_shared<const Dataset>(load_mnist(folder));
}

}  // namespace

DataKind parse_data_kind(std::string_view text) {
  for (const auto& [name, kind] : kKinds) {
    if (text == name) return kind;
  }
  fail<ValueError>("data", "there is no data set '{}'; choose auto, mnist or builtin", text);
}

std::shared_ptr<const Dataset> load_dataset(const DataOptions& options) {
  if (options.colour && (options.kind == DataKind::Mnist || options.folder)) {
    fail<ValueError>(
        "data", "this model reads 3 x 32 x 32 colour images, MNIST holds 1 x 28 x 28 grey ones; leave out {}",
        options.kind == DataKind::Mnist ? "--data mnist" : "--data-dir");
  }
  if (options.kind == DataKind::Builtin && options.folder) {
    fail<ValueError>(
        "data", "the built-in digits are read from no folder: {}; leave out --data-dir or --data builtin",
        options.folder->string());
  }
  if (options.colour) return builtin_digits(DigitStyle::Colour);
  if (options.kind == DataKind::Builtin) return builtin_digits(DigitStyle::Grey);
  if (const auto folder = named_folder(options)) return mnist(*folder);
  if (options.kind == DataKind::Mnist || holds_mnist(kDefaultFolder)) return mnist(kDefaultFolder);
  return builtin_digits(DigitStyle::Grey);
}

}  // namespace warpline
