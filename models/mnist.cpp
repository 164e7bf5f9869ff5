#include "models/mnist.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>
#include <utility>

#include "kernels/error.h"
#include "models/idx.h"

namespace warpline {
namespace {

namespace fs = std::filesystem;

constexpr int kClasses = 10;
constexpr std::int64_t kSide = 28;
constexpr std::array<std::string_view, 2> kTrain = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"};
constexpr std::array<std::string_view, 2> kTest = {"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

// The plain file or the packed one; empty where there is neither.
fs::path find(const fs::path& folder, std::string_view name) {
  std::error_code error;
  for (const char* suffix : {"", ".gz"}) {
    fs::path file = folder / (std::string(name) + suffix);
    if (fs::exists(file, error)) return file;
  }
  return {};
}

fs::path require(const fs::path& folder, std::string_view name) {
  fs::path file = find(folder, name);
  if (file.empty()) {
    fail<FileError>("mnist", "{}: holds neither {} nor {}.gz; tools/get_mnist downloads all four files",
                    folder.string(), name, name);
  }
  return file;
}

Samples load(const fs::path& folder, const std::array<std::string_view, 2>& names) {
  const fs::path label_file = require(folder, names[1]);
  const fs::path image_file = require(folder, names[0]);
  IdxArray labels = read_idx(label_file, {kAnySize});
  if (labels.values.empty()) fail<FileError>("mnist", "{}: holds no labels", label_file.string());
  const auto bad =
      std::find_if(labels.values.begin(), labels.values.end(), [](auto l) { return l >= kClasses; });
  if (bad != labels.values.end()) {
    fail<FileError>("mnist", "{}: labels are 0 to {}: label {} is {}; get the file again",
                    label_file.string(), kClasses - 1, bad - labels.values.begin(), *bad);
  }
  IdxArray images = read_idx(image_file, {kAnySize, kSide, kSide});
  if (images.shape[0] != labels.shape[0]) {
    fail<FileError>(
        "mnist", "there must be one label per image: {} images in {}, {} labels in {}; get the files again",
        images.shape[0], image_file.string(), labels.shape[0], label_file.string());
  }
  return {std::move(images.values), std::move(labels.values), kSide * kSide};
}

}  // namespace

bool holds_mnist(const fs::path& folder) {
  return std::all_of(kTrain.begin(), kTrain.end(), [&](auto name) { return !find(folder, name).empty(); }) &&
         std::all_of(kTest.begin(), kTest.end(), [&](auto name) { return !find(folder, name).empty(); });
}

Dataset load_mnist(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    fail<FileError>("mnist", "{}: {}; name the folder that holds the four MNIST files", folder.string(),
                    fs::exists(folder, error) ? "not a folder" : "there is no such folder");
  }
  // The constants are those of the published training set, as everybody uses them.
  return {.name = "mnist",
          .sample_shape = {1, kSide, kSide},
          .classes = kClasses,
          .mean = {0.1307F},
          .std_dev = {0.3081F},
          .train = load(folder, kTrain),
          .test = load(folder, kTest)};
}

}  // namespace warpline
