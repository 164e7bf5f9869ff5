// MNIST in a folder: four files that agree, or an error that names what is wrong.
#include "models/mnist.h"

#include <cstdlib>
#include <map>

#include <catch2/catch.hpp>
#include <openssl/evp.h>

#include "models/idx.h"
#include "tests/models/files.h"
#include "tests/support/skip.h"

using namespace warpline;
using namespace warpline::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

std::string sha256(const Bytes& bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

void pack(const fs::path& file) {
  write_file(file.string() + ".gz", gzip(read_file(file)));
  fs::remove(file);
}

}  // namespace

TEST_CASE("MNIST is read from plain and packed files", "[mnist]") {
  const TemporaryFolder folder;
  CHECK(!holds_mnist(folder.path()));
  write_mnist(folder.path(), 13, 7);
  CHECK(holds_mnist(folder.path()));
  pack(folder.path() / "train-images-idx3-ubyte");
  pack(folder.path() / "t10k-labels-idx1-ubyte");
  CHECK(holds_mnist(folder.path()));
  const Dataset data = load_mnist(folder.path());
  CHECK(data.name == "mnist");
  CHECK(data.sample_shape == Shape{1, 28, 28});
  CHECK(data.classes == 10);
  REQUIRE(data.train.count() == 13);
  REQUIRE(data.test.count() == 7);
  CHECK(data.train.label(12) == 2);
  CHECK(data.train.image(12).size() == 784);
  CHECK(data.train.image(12)[783] == 12);
  CHECK(data.test.label(6) == 6);
  CHECK(data.test.image(6)[0] == 106);
}

TEST_CASE("a file that is there plain and packed is read plain", "[mnist]") {
  const TemporaryFolder folder;
  write_mnist(folder.path(), 3, 2);
  write_file(folder.path() / "train-images-idx3-ubyte.gz", {1, 2, 3});
  CHECK(load_mnist(folder.path()).train.count() == 3);
}

TEST_CASE("a folder that does not hold MNIST is refused", "[mnist]") {
  const TemporaryFolder folder;
  const auto refused = [&] { return refusal([&] { load_mnist(folder.path()); }); };
  CHECK_THAT(refusal([&] { load_mnist(folder.path() / "none"); }), Contains("none: there is no such folder"));
  CHECK_THAT(refused(), Contains("holds neither train-labels-idx1-ubyte nor train-labels-idx1-ubyte.gz"));

  write_mnist(folder.path(), 5, 3);
  CHECK_THAT(refusal([&] { load_mnist(folder.path() / "t10k-images-idx3-ubyte"); }),
             Contains("not a folder"));
  const fs::path images = folder.path() / "train-images-idx3-ubyte";
  const fs::path labels = folder.path() / "t10k-labels-idx1-ubyte";
  const Bytes good_images = read_file(images);
  const Bytes good_labels = read_file(labels);

  fs::remove(labels);
  CHECK_THAT(refused(), Contains("neither t10k-labels-idx1-ubyte"));
  write_file(labels, idx_bytes({3}, {0, 10, 2}));
  CHECK_THAT(refused(), Contains("t10k-labels-idx1-ubyte: labels are 0 to 9: label 1 is 10"));
  write_file(labels, idx_bytes({2}, {0, 1}));
  CHECK_THAT(refused(), Contains("one label per image: 3 images") && Contains("2 labels"));
  write_file(labels, idx_bytes({0}, {}));
  CHECK_THAT(refused(), Contains("holds no labels"));
  write_file(labels, good_labels);

  write_file(images, Bytes(good_images.begin(), good_images.end() - 1));
  CHECK_THAT(refused(), Contains("train-images-idx3-ubyte") && Contains("there are 3919"));
  write_file(images, idx_bytes({5, 28, 27}, Bytes(5 * 28 * 27)));
  CHECK_THAT(refused(), Contains("axis 2 must have size 28: the header says 27"));
  write_file(images, good_labels);  // the wrong file
  CHECK_THAT(refused(), Contains("magic number"));
  fs::remove(images);
  fs::create_directory(images);
  CHECK_THAT(refused(), Contains("not a regular file"));
  fs::remove(images);
  write_file(images, good_images);
  CHECK(refused().empty());
}

TEST_CASE("the published MNIST is read to the byte", "[mnist]") {
  const char* folder = std::getenv("WARPLINE_DATA");
  if (folder == nullptr) SKIP_TEST("WARPLINE_DATA does not name a folder with the MNIST files");
  const Dataset data = load_mnist(folder);
  const auto hash_images = [](const Samples& samples) {
    Bytes values;
    for (std::int64_t i = 0; i < samples.count(); ++i) {
      values.insert(values.end(), samples.image(i).begin(), samples.image(i).end());
    }
    return sha256(idx_bytes({samples.count(), 28, 28}, values));
  };
  const auto hash_labels = [](const Samples& samples) {
    Bytes values;
    for (std::int64_t i = 0; i < samples.count(); ++i) values.push_back(samples.label(i));
    return sha256(idx_bytes({samples.count()}, values));
  };
  CHECK(hash_images(data.train) == "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db");
  CHECK(hash_labels(data.train) == "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5");
  CHECK(hash_images(data.test) == "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7");
  CHECK(hash_labels(data.test) == "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2");
  // The constants that images are normalised with are those of this set.
  double sum = 0, squares = 0;
  for (std::int64_t i = 0; i < data.train.count(); ++i) {
    for (const std::uint8_t pixel : data.train.image(i)) {
      sum += pixel;
      squares += double{1} * pixel * pixel;
    }
  }
  const double pixels = 784.0 * static_cast<double>(data.train.count());
  const double mean = sum / pixels;
  CHECK(data.mean[0] == Approx(mean / 255).margin(5e-5).epsilon(0));
  CHECK(data.std_dev[0] == Approx(std::sqrt(squares / pixels - mean * mean) / 255).margin(5e-5).epsilon(0));
}
