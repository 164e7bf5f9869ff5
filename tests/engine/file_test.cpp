#include "engine/file.h"

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/error.h"
#include "tests/support/temporary_folder.h"

using namespace warpline;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

std::string text_of(const std::string& path) {
  const auto bytes = read_file_whole(path, 1 << 20);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TEST_CASE("a file is written, replaced, and nothing else is left", "[file]") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "report.json";
  check_writable(path);
  CHECK(folder.entries() == 0);
  write_file_whole(path, "one");
  CHECK(text_of(path) == "one");
  check_writable(path);
  write_file_whole(path, "");
  CHECK(text_of(path).empty());
  const std::string a = "two ", b = "parts";
  const std::vector<std::span<const std::byte>> parts = {
      std::as_bytes(std::span(a)), {}, std::as_bytes(std::span(b))};
  write_file_whole(path, parts);
  CHECK(text_of(path) == "two parts");
  CHECK(folder.entries() == 1);
  const auto permissions = fs::status(path).permissions();
  CHECK((permissions & fs::perms::owner_read) != fs::perms::none);
}

TEST_CASE("a link to what is not there yet is followed, and a mode is kept", "[file]") {
  const test::TemporaryFolder folder;
  fs::create_directory(folder / "far");
  fs::create_symlink("far/real", folder / "second");
  fs::create_symlink(folder / "second", folder / "first");
  write_file_whole(folder / "first", "new");
  CHECK(fs::is_symlink(folder / "first"));
  CHECK(text_of(folder / "far/real") == "new");
  fs::permissions(folder / "far/real", fs::perms::owner_read | fs::perms::owner_write);
  write_file_whole(folder / "first", "newer");
  CHECK(text_of(folder / "far/real") == "newer");
  CHECK(fs::status(folder / "far/real").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("what a killed process of the same number left is no obstacle", "[file]") {
  const test::TemporaryFolder folder;
  for (int i = 0; i < 100; ++i) {
    fs::create_symlink("/nonexistent", folder / fmt::format(".warpline-{}-{}.tmp", ::getpid(), i));
  }
  write_file_whole(folder / "file", "here");
  CHECK(text_of(folder / "file") == "here");
  CHECK(folder.entries() == 101);
}

TEST_CASE("a path without a folder is in the working folder", "[file]") {
  const test::TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  check_writable("plain");
  write_file_whole("plain", "here");
  fs::current_path(before);
  CHECK(text_of(folder / "plain") == "here");
}

TEST_CASE("paths where no file can be put are found before work starts", "[file]") {
  const test::TemporaryFolder folder;
  write_file_whole(folder / "file", "x");
  for (const std::string& path :
       {std::string(), folder / "missing/file", folder / "file/inside", folder / "", folder.path().string(),
        folder / std::string(300, 'n'), std::string("/proc/none")}) {
    CHECK_THROWS_AS(check_writable(path), FileError);
    CHECK_THROWS_AS(write_file_whole(path, "x"), FileError);
    CHECK_THROWS_WITH(check_writable(path), Contains(path));
  }
  CHECK(folder.entries() == 1);
}

TEST_CASE("a symbolic link stays one", "[file]") {
  const test::TemporaryFolder folder;
  write_file_whole(folder / "real", "old");
  fs::create_symlink("real", folder / "link");
  write_file_whole(folder / "link", "new");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(text_of(folder / "real") == "new");
}

TEST_CASE("a device is written to, not replaced", "[file]") {
  check_writable("/dev/null");
  write_file_whole("/dev/null", "gone");
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("when writing fails the old file is unchanged and no temporary is left", "[file]") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "checkpoint";
  write_file_whole(path, "old");
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  rlimit small = before;
  small.rlim_cur = 1000;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);  // then write() fails with EFBIG
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string message;
  try {
    write_file_whole(path, std::string(5000, 'n'));
  } catch (const Failure& error) {
    message = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK_THAT(message, Contains(path) && Contains("unchanged"));
  CHECK(text_of(path) == "old");
  CHECK(folder.entries() == 1);
}

TEST_CASE("only regular files up to a size are read", "[file]") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "data";
  write_file_whole(path, "12345");
  CHECK(read_file_whole(path, 5).size() == 5);
  CHECK_THROWS_WITH(read_file_whole(path, 4), Contains("too large") && Contains(path));
  CHECK_THROWS_AS(read_file_whole(folder / "missing", 10), FileError);
  CHECK_THROWS_AS(read_file_whole(folder.path().string(), 10), FileError);
  CHECK_THROWS_AS(read_file_whole("/dev/null", 10), FileError);
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THROWS_AS(read_file_whole(folder / "pipe", 10), FileError);  // without waiting for a writer
}
