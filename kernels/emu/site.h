// Where in a kernel's source a call stands. std::source_location is missing in clang 14.
#pragma once

#include <cstring>

namespace warpline::emu {

struct Site {
  const char* file = "";
  int line = 0;

  static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
  bool operator==(const Site& other) const {
    return line == other.line && (file == other.file || std::strcmp(file, other.file) == 0);
  }
};

}  // namespace warpline::emu
