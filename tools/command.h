// What the program's commands need of a command line: each adds its flags, and what it does once they are
// read. The library behind it stays in command.cpp, because its header costs each source that includes it
// seconds.
//
// A value may not be empty (an unset shell variable), and a whole number is written in plain decimal digits
// and fits: 010 is not 8, and what is too large is not clamped.
#pragma once

#include <functional>
#include <span>
#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace warpline::tools {

// A flag, or a word by its position, of a command.
class Flag {
 public:
  explicit Flag(CLI::Option* option) : option_(option) {}

  Flag default_text(const char* text) const;  // what --help shows as its default, in place of the value
  Flag needs(Flag other) const;
  Flag excludes(Flag other) const;
  bool given() const;
  std::string name() const;

 private:
  CLI::Option* option_;
};

class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  Command add_command(const char* name, const char* what) const;
  void require_command() const;  // one of those that were added
  void footer(const char* text) const;
  // The value now is the default, which --help shows unless it is empty. T: std::string, int, int64_t,
  // uint64_t, double, std::optional of a string or an int64_t, or std::vector<std::string>, which takes one
  // value each time it is given, as a word by its position all that are left.
  template <class T>
  Flag add_option(const char* name, T& value, const char* what) const;
  Flag add_flag(const char* name, bool& value, const char* what) const;
  bool given(const char* flag) const;
  void on_run(std::function<void()> run) const;

 private:
  CLI::App* app_;
};

// Reads the command line and runs the command it names; what that throws passes through. For --help and
// --version true; false where the command line is wrong, which then has been told to stderr.
bool run_command_line(const char* what, const char* version, std::span<void (*const)(Command)> add_commands,
                      int argc, char** argv);

}  // namespace warpline::tools
