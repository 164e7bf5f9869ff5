#include "tests/support/run_program.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <sys/wait.h>

namespace warpline::test {

ProgramResult run_program(const std::string& command) {
  std::string errors_name = (std::filesystem::temp_directory_path() / "warpline-errors-XXXXXX").string();
  const int descriptor = ::mkstemp(errors_name.data());
  if (descriptor < 0) throw std::runtime_error("no temporary file for " + command);
  FILE* pipe = ::popen(("( " + command + " ) 2>&" + std::to_string(descriptor)).c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start " + command);
  ProgramResult result;
  std::array<char, 4096> buffer{};
  for (std::size_t count = 0; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    result.out.append(buffer.data(), count);
  }
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  std::ifstream errors(errors_name);
  result.errors.assign(std::istreambuf_iterator<char>(errors), {});
  std::fclose(::fdopen(descriptor, "r"));
  std::filesystem::remove(errors_name);
  return result;
}

}  // namespace warpline::test
