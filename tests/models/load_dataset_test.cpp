// Which data set a run gets, and when it gets none.
#include "models/load_dataset.h"

#include <cstdlib>
#include <optional>
#include <string>

#include <catch2/catch.hpp>

#include "tests/models/files.h"

using namespace warpline;
using namespace warpline::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

// WARPLINE_DATA and the current folder as a case wants them, and as they were afterwards.
class Surroundings {
 public:
  Surroundings() : here_(fs::current_path()) {
    if (const char* value = std::getenv("WARPLINE_DATA")) before_ = value;
    set(std::nullopt);
    fs::current_path(folder_.path());
  }
  ~Surroundings() {
    fs::current_path(here_);
    set(before_);
  }
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;

  void set(const std::optional<std::string>& value) {
    if (value) {
      setenv("WARPLINE_DATA", value->c_str(), 1);
    } else {
      unsetenv("WARPLINE_DATA");
    }
  }
  // A small MNIST of so many training images.
  fs::path mnist(const std::string& name, std::int64_t images) const {
    const fs::path made = folder_.path() / name;
    fs::create_directories(made);
    write_mnist(made, images, 3);
    return made;
  }
  fs::path path() const { return folder_.path(); }

 private:
  fs::path here_;
  std::optional<std::string> before_;
  TemporaryFolder folder_;
};

std::int64_t images(const DataOptions& options) { return load_dataset(options)->train.count(); }
std::string refused(const DataOptions& options) {
  return refusal([&] { load_dataset(options); });
}

}  // namespace

TEST_CASE("a data set is named auto, mnist or builtin", "[data]") {
  CHECK(parse_data_kind("auto") == DataKind::Auto);
  CHECK(parse_data_kind("mnist") == DataKind::Mnist);
  CHECK(parse_data_kind("builtin") == DataKind::Builtin);
  for (const char* text : {"", "MNIST", "mnist ", "cifar"}) {
    CHECK_THAT(refusal([&] { parse_data_kind(text); }), Contains("choose auto, mnist or builtin"));
  }
}

TEST_CASE("the first folder that is named holds the data", "[data]") {
  Surroundings surroundings;
  CHECK(load_dataset({})->name == "builtin");
  surroundings.mnist("data/mnist", 11);
  CHECK(images({}) == 11);
  CHECK(load_dataset({})->name == "mnist");
  CHECK(images({.kind = DataKind::Mnist}) == 11);
  surroundings.set(surroundings.mnist("environment", 12).string());
  CHECK(images({}) == 12);
  CHECK(images({.kind = DataKind::Mnist}) == 12);
  const fs::path named = surroundings.mnist("named", 13);
  CHECK(images({.folder = named}) == 13);
  CHECK(images({.kind = DataKind::Mnist, .folder = named}) == 13);
  CHECK(load_dataset({.kind = DataKind::Builtin})->name == "builtin");  // the environment does not bind it
  surroundings.set("");                                                 // as good as not set
  CHECK(images({}) == 11);
}

TEST_CASE("a folder that was named is never passed over", "[data]") {
  Surroundings surroundings;
  surroundings.mnist("data/mnist", 11);
  const fs::path broken = surroundings.mnist("broken", 5);
  fs::remove(broken / "t10k-labels-idx1-ubyte");
  for (const DataKind kind : {DataKind::Auto, DataKind::Mnist}) {
    CHECK_THAT(refused({.kind = kind, .folder = surroundings.path() / "none"}), Contains("no such folder"));
    CHECK_THAT(refused({.kind = kind, .folder = broken}), Contains("t10k-labels-idx1-ubyte"));
    surroundings.set(broken.string());
    CHECK_THAT(refused({.kind = kind}), Contains("t10k-labels-idx1-ubyte"));
    surroundings.set("none");
    CHECK_THAT(refused({.kind = kind}), Contains("no such folder"));
    surroundings.set(std::nullopt);
  }
}

TEST_CASE("data/mnist counts when it is complete, and must then be whole", "[data]") {
  Surroundings surroundings;
  CHECK_THAT(refused({.kind = DataKind::Mnist}), Contains("data/mnist: there is no such folder"));
  const fs::path folder = surroundings.mnist("data/mnist", 11);
  write_file(folder / "train-images-idx3-ubyte", {0, 0, 8, 3});
  CHECK_THAT(refused({}), Contains("train-images-idx3-ubyte"));
  fs::remove(folder / "train-images-idx3-ubyte");
  CHECK(load_dataset({})->name == "builtin");
  CHECK_THAT(refused({.kind = DataKind::Mnist}), Contains("holds neither train-images-idx3-ubyte"));
}

TEST_CASE("colour is drawn, and combinations that cannot be are refused", "[data]") {
  Surroundings surroundings;
  const fs::path named = surroundings.mnist("named", 5);
  surroundings.set(named.string());
  for (const DataKind kind : {DataKind::Auto, DataKind::Builtin}) {
    CHECK(load_dataset({.kind = kind, .colour = true})->sample_shape == Shape{3, 32, 32});
  }
  CHECK_THAT(refused({.kind = DataKind::Mnist, .colour = true}), Contains("--data mnist"));
  CHECK_THAT(refused({.folder = named, .colour = true}), Contains("--data-dir"));
  CHECK_THAT(refused({.kind = DataKind::Builtin, .folder = named}), Contains("--data builtin"));
}
