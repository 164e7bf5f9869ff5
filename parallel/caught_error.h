// An error that crosses threads or processes: its text, and its type by name. Exception objects themselves
// are not shared between threads, so each thread gets one of its own.
#pragma once

#include <exception>
#include <string>

namespace warpline::parallel {

struct CaughtError {
  std::string text;
  std::string type;  // "ValueError"; one that is not known is rethrown as a Failure

  [[noreturn]] void rethrow(const std::string& prefix = {}) const;
};

// Types of kernels/error.h and parallel/communicator.h stay what they are, so that a program's exit status
// does; everything else becomes a Failure.
CaughtError describe(const std::exception_ptr& error);

}  // namespace warpline::parallel
