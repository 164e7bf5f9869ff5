// The files that a command is about to write.
#pragma once

#include <initializer_list>
#include <string>

namespace warpline::tools {

struct FlagPath {
  const char* flag;
  std::string path;  // empty: not given
};

// Before work starts: each output can be written, and none is another output or one of the inputs, by
// whatever name. FileError or ValueError.
void check_output_paths(std::initializer_list<FlagPath> outputs, std::initializer_list<FlagPath> inputs);

}  // namespace warpline::tools
