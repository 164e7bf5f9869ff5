// IDX files are read whole or refused with their name, the rule and the values.
#include "models/idx.h"

#include <random>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "tests/models/files.h"
#include "tests/support/options.h"

using namespace warpline;
using namespace warpline::test;
using Catch::Matchers::Contains;

namespace {

const Offers kOffers{false, true};

const Shape kShape = {3, 2, 5};

Bytes values() {
  Bytes values(30);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(7 * i + 1);
  return values;
}

IdxArray read_bytes(const TemporaryFolder& folder, const Bytes& bytes, const Shape& expected) {
  write_file(folder.path() / "array", bytes);
  return read_idx(folder.path() / "array", expected);
}

std::string refused(const Bytes& bytes, const Shape& expected = {kAnySize, kAnySize, kAnySize}) {
  const TemporaryFolder folder;
  return refusal([&] { read_bytes(folder, bytes, expected); });
}

Bytes changed(Bytes bytes, std::size_t at, std::uint8_t value) {
  bytes.at(at) = value;
  return bytes;
}

}  // namespace

TEST_CASE("an IDX file is read plain and packed, whatever its name", "[idx]") {
  const TemporaryFolder folder;
  const Bytes plain = idx_bytes(kShape, values());
  for (const Bytes& bytes : {plain, gzip(plain)}) {
    for (const Shape& expected : {kShape, Shape{kAnySize, 2, kAnySize}}) {
      const IdxArray array = read_bytes(folder, bytes, expected);
      CHECK(array.shape == kShape);
      CHECK(array.values == values());
    }
  }
  const Bytes many(3'000'001, 9);  // more than one piece
  CHECK(read_bytes(folder, gzip(idx_bytes({3'000'001}, many)), {kAnySize}).values == many);
  CHECK(read_bytes(folder, idx_bytes({0, 4}, {}), {kAnySize, 4}).values.empty());
}

TEST_CASE("a file that is not there, or not a file, is refused", "[idx]") {
  const TemporaryFolder folder;
  CHECK_THAT(refusal([&] { read_idx(folder.path() / "none", {1}); }),
             Contains("none") && Contains("no such file"));
  CHECK_THAT(refusal([&] { read_idx(folder.path(), {1}); }), Contains("not a regular file"));
}

TEST_CASE("an IDX file that breaks a rule is refused with the rule and the values", "[idx]") {
  const Bytes plain = idx_bytes(kShape, values());
  CHECK_THAT(refused({}), Contains("array") && Contains("the file holds 0"));
  CHECK_THAT(refused({plain.begin(), plain.begin() + 15}), Contains("has 16 bytes: the file holds 15"));
  CHECK_THAT(refused(changed(plain, 0, 1)), Contains("01 00 08 03"));
  CHECK_THAT(refused(changed(plain, 2, 13)), Contains("00 00 08 03") && Contains("00 00 0d 03"));
  CHECK_THAT(refused(plain, {kAnySize}), Contains("00 00 08 01"));
  CHECK_THAT(refused(plain, {3, 2, 6}), Contains("axis 2 must have size 6: the header says 5"));
  CHECK_THAT(refused(changed(plain, 7, 4)), Contains("[4, 2, 5] = 40 bytes: there are 30"));
  CHECK_THAT(refused(changed(plain, 7, 2)), Contains("[2, 2, 5] = 20 bytes: there are more"));
  Bytes short_by_one = plain;
  short_by_one.pop_back();
  CHECK_THAT(refused(short_by_one), Contains("there are 29"));
  CHECK_THAT(refused(gzip(short_by_one)), Contains("there are 29"));
  Bytes long_by_one = plain;
  long_by_one.push_back(0);
  CHECK_THAT(refused(long_by_one), Contains("there are more"));
  CHECK_THAT(refused(gzip(long_by_one)), Contains("there are more"));
}

TEST_CASE("a header that claims a huge array costs no memory", "[idx]") {
  // 2^32 - 1 on each axis leaves int64; 2^31 x 2^20 fits in it, and in no file.
  const Bytes past_int64 = idx_bytes({0xffffffff, 0xffffffff, 0xffffffff}, values());
  const Bytes huge = idx_bytes({0x80000000, 0x100000, 1}, values());
  // A packed file of a megabyte of zeros might hold a gigabyte: the header alone does not disprove this one.
  const Bytes packed = gzip(idx_bytes({1'000'000'000, 1, 1}, Bytes(1'000'000)));
  CHECK_THAT(refused(past_int64), Contains("no file holds"));
  CHECK_THAT(refused(gzip(past_int64)), Contains("no file holds"));
  CHECK_THAT(refused(huge), Contains("more than the file can hold"));
  CHECK_THAT(refused(gzip(huge)), Contains("more than the file can hold"));
  CHECK_THAT(refused(packed), Contains("more than the file can hold"));
}

TEST_CASE("a damaged gzip stream is refused", "[idx]") {
  const Bytes good = gzip(idx_bytes(kShape, values()));
  const Bytes cut(good.begin(), good.end() - 1);
  CHECK_THAT(refused(cut), Contains("ends before its end mark"));
  CHECK_THAT(refused(changed(good, good.size() - 1, 1)), Contains("damaged: incorrect length check"));
  CHECK_THAT(refused(changed(good, good.size() - 8, static_cast<std::uint8_t>(good[good.size() - 8] ^ 1))),
             Contains("damaged: incorrect data check"));
  CHECK_THAT(refused(changed(good, 2, 7)), Contains("damaged: unknown compression method"));
  Bytes followed = good;
  followed.push_back(0);
  CHECK_THAT(refused(followed), Contains("behind the end"));
  Bytes twice = good;  // a second gzip member is more than one array
  twice.insert(twice.end(), good.begin(), good.end());
  CHECK_THAT(refused(twice), Contains("behind the end"));
}

TEST_CASE("mutated IDX files are refused or harmless", "[idx][fuzz]") {
  const TemporaryFolder folder;
  const Bytes plain = idx_bytes(kShape, values());
  std::mt19937_64 random(options().seed);
  for (const bool packed : {false, true}) {
    const Bytes good = packed ? gzip(plain) : plain;
    std::vector<Bytes> mutants;
    for (std::size_t i = 0; i < good.size(); ++i) {  // every cut, every bit, every byte left out or doubled
      mutants.emplace_back(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(i));
      for (int bit = 0; bit < 8; ++bit) {
        mutants.push_back(changed(good, i, static_cast<std::uint8_t>(good[i] ^ (1 << bit))));
      }
      mutants.push_back(good);
      mutants.back().erase(mutants.back().begin() + static_cast<std::ptrdiff_t>(i));
      mutants.push_back(good);
      mutants.back().insert(mutants.back().begin() + static_cast<std::ptrdiff_t>(i), good[i]);
    }
    for (int i = 0; i < 1000; ++i) {  // several bytes at once, most of them in the header
      mutants.push_back(good);
      for (int k = 0; k < 3; ++k) mutants.back().at(random() % 20) = static_cast<std::uint8_t>(random());
    }
    std::size_t refusals = 0, wrong = 0;
    for (const Bytes& mutant : mutants) {
      IdxArray array;
      if (!refusal([&] { array = read_bytes(folder, mutant, {kAnySize, kAnySize, kAnySize}); }).empty()) {
        ++refusals;
        continue;
      }
      // Plain values have no checksum; a packed file must give the very bytes that were packed.
      const bool holds = array.shape.size() == 3 && element_count(array.shape) == std::ssize(array.values);
      if (!holds || (packed && (array.shape != kShape || array.values != values()))) ++wrong;
    }
    CHECK(wrong == 0);
    CHECK(refusals > mutants.size() / 3);
    fmt::print("{} IDX files, {} mutants: {} refused, {} harmless, {} wrong\n", packed ? "packed" : "plain",
               mutants.size(), refusals, mutants.size() - refusals - wrong, wrong);
  }
}
