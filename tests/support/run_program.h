// Runs a program as a user does, for tests of what it prints and how it ends.
#pragma once

#include <string>

namespace warpline::test {

struct ProgramResult {
  int status = -1;          // exit status; -1: it did not exit by itself
  std::string out, errors;  // standard output and standard error
};

// `command` is a line for the shell. Throws std::runtime_error where it cannot be started.
ProgramResult run_program(const std::string& command);

}  // namespace warpline::test
