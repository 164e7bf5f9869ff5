// An error that crosses threads: its text, and how to throw that type again. Exception objects themselves
// are not shared between threads, so each thread gets one of its own.
#pragma once

#include <exception>
#include <string>

namespace warpline::parallel {

struct CaughtError {
  std::string text;
  void (*raise)(const std::string& text) = nullptr;  // throws this type of error with another text

  [[noreturn]] void rethrow(const std::string& prefix = {}) const;
};

// Types of kernels/error.h and parallel/communicator.h stay what they are, so that a program's exit status
// does; everything else becomes a Failure.
CaughtError describe(const std::exception_ptr& error);

}  // namespace warpline::parallel
