// What `meson install` hands a user of the library: a program of theirs compiles, links and runs against the
// installed archive, headers and pkg-config file alone, and the installed program runs from its new place. It
// includes every header, so no two of them may give different things one name.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace fs = std::filesystem;
using warpline::test::ProgramResult;
using warpline::test::run_program;
using warpline::test::TemporaryFolder;

namespace {

// Touches every room that is installed. Every header stands before it.
constexpr const char* kProgram = R"(
int main() {
  using namespace warpline;
  Context context({DeviceKind::Cpu, 0});
  Tensor x = Tensor::from_host<float>(context, {-1.0F, 2.0F, 3.0F}, {3});
  x.set_requires_grad(true);
  backward(context, {sum(context, relu(context, x))}, {});
  for (const float g : x.grad().to_host<float>()) std::cout << g << ' ';
  std::cout << make_model("net").layers.size() << ' ' << parallel::schedules().size() << '\n';
}
)";

}  // namespace

TEST_CASE("an installed warpline serves a program of its own", "[install]") {
  const TemporaryFolder folder;
  const std::string root = folder / "root";
  const ProgramResult installed = run_program(
      fmt::format("meson install -C '{}' --no-rebuild --destdir '{}'", WARPLINE_BUILD_ROOT, root));
  INFO(installed.out << installed.errors);
  REQUIRE(installed.status == 0);

  fs::path pkg_config;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().filename() == "warpline.pc") pkg_config = entry.path();
  }
  REQUIRE(!pkg_config.empty());
  const std::string prefix = root + WARPLINE_PREFIX;

  const ProgramResult version = run_program(fmt::format("'{}/bin/warpline' --version", prefix));
  CHECK(version.status == 0);
  CHECK(!version.out.empty());

  std::string includes = "#include <iostream>\n";
  const fs::path headers = prefix + "/include/warpline";
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(headers)) {
    if (entry.path().extension() != ".h") continue;
    includes += fmt::format("#include \"{}\"\n", fs::relative(entry.path(), headers).string());
  }
  std::ofstream(folder / "user.cpp") << includes << kProgram;
  const ProgramResult built = run_program(fmt::format(
      "cd '{}' && PKG_CONFIG_PATH='{}' && export PKG_CONFIG_PATH && {} -std=c++20 -o user user.cpp "
      "$(pkg-config --define-variable=prefix='{}' --cflags --libs --static warpline)",
      folder.path().string(), pkg_config.parent_path().string(), WARPLINE_COMPILE, prefix));
  INFO(built.errors);
  REQUIRE(built.status == 0);
  const ProgramResult used = run_program(fmt::format("'{}'", folder / "user"));
  CHECK(used.status == 0);
  CHECK(used.out == "0 1 1 11 4\n");
}
