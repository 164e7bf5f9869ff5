#include "tools/command.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

#include <CLI/CLI.hpp>

namespace warpline::tools {
namespace {

// No leading zero, which means octal digits to some.
template <class T>
bool whole_number(const std::string& text) {
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  if (text.size() > first + 1 && text[first] == '0') return false;
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// What is wrong with it, or nothing.
std::string problem(const std::string& type, const std::string& text) {
  if (text.empty()) return "the value is empty";
  if (type == "INT" && !whole_number<std::int64_t>(text))
    return "'" + text + "' is not a whole number that fits";
  if (type == "UINT" && !whole_number<std::uint64_t>(text)) {
    return "'" + text + "' is not a whole number from 0 on that fits";
  }
  return "";
}

}  // namespace

Flag Flag::default_text(const char* text) const {
  option_->default_str(text);
  return *this;
}

Flag Flag::needs(Flag other) const {
  option_->needs(other.option_);
  return *this;
}

Flag Flag::excludes(Flag other) const {
  option_->excludes(other.option_);
  return *this;
}

bool Flag::given() const { return option_->count() > 0; }

std::string Flag::name() const { return option_->get_name(); }

Command Command::add_command(const char* name, const char* what) const {
  return Command(app_->add_subcommand(name, what));
}

void Command::require_command() const { app_->require_subcommand(1); }

void Command::footer(const char* text) const { app_->footer(text); }

template <class T>
Flag Command::add_option(const char* name, T& value, const char* what) const {
  CLI::Option* const option = app_->add_option(name, value, what);
  option->check([type = option->get_type_name()](const std::string& text) { return problem(type, text); });
  if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    if (*name == '-') option->allow_extra_args(false);
  } else {
    option->capture_default_str();
  }
  return Flag(option);
}

template Flag Command::add_option(const char*, std::string&, const char*) const;
template Flag Command::add_option(const char*, int&, const char*) const;
template Flag Command::add_option(const char*, std::int64_t&, const char*) const;
template Flag Command::add_option(const char*, std::uint64_t&, const char*) const;
template Flag Command::add_option(const char*, double&, const char*) const;
template Flag Command::add_option(const char*, std::optional<std::string>&, const char*) const;
template Flag Command::add_option(const char*, std::optional<std::int64_t>&, const char*) const;
template Flag Command::add_option(const char*, std::vector<std::string>&, const char*) const;

Flag Command::add_flag(const char* name, bool& value, const char* what) const {
  return Flag(app_->add_flag(name, value, what));
}

bool Command::given(const char* flag) const { return app_->count(flag) > 0; }

void Command::on_run(std::function<void()> run) const { app_->callback(std::move(run)); }

bool run_command_line(const char* what, const char* version, std::span<void (*const)(Command)> add_commands,
                      int argc, char** argv) {
  CLI::App app{what};
  app.set_version_flag("--version", version);
  const Command command(&app);
  command.require_command();
  for (const auto& add : add_commands) add(command);
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0;  // --help and --version are "errors" with status 0
  }
}

}  // namespace warpline::tools
