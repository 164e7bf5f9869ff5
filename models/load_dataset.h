// Finds the data set that a run trains on, and says no rather than train on another one than was asked for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "models/dataset.h"

namespace warpline {

enum class DataKind : std::uint8_t { Auto, Mnist, Builtin };
DataKind parse_data_kind(
    std::string_view text);  // "auto", "mnist", "builtin"; throws ValueError that lists them

struct DataOptions {
  DataKind kind = DataKind::Auto;
  std::optional<std::filesystem::path> folder{};  // named by the user
  bool colour = false;                            // 3 x 32 x 32 for `vgg`: always the built-in digits
};

// MNIST from the first of: options.folder, $WARPLINE_DATA (set and not empty), data/mnist; `Auto` takes the
// built-in digits where none is named and data/mnist does not hold the four files. A folder that was named
// must hold them. Throws FileError as load_mnist does, and for `Mnist` where there is none; ValueError for a
// combination that cannot be: colour or `Builtin` with MNIST asked for. Built-in digits are shared within the
// process.
std::shared_ptr<const Dataset> load_dataset(const DataOptions& options);

}  // namespace warpline
