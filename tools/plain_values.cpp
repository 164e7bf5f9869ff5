#include "tools/plain_values.h"

#include <charconv>
#include <cstdint>
#include <string>

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

void require_plain_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) continue;  // a flag without a value
    const std::string type = option->get_type_name();
    option->check([type](const std::string& text) { return problem(type, text); });
  }
  for (CLI::App* command : app.get_subcommands({})) require_plain_values(*command);
}

}  // namespace warpline::tools
