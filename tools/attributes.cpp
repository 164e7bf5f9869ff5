#include "tools/attributes.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "kernels/error.h"

namespace warpline::tools {

Attributes::Attributes(std::string op, const std::vector<std::string>& texts) : op_(std::move(op)) {
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      fail<ValueError>(op_, "an attribute is KEY=VALUE; got '{}'", text);
    }
    if (!values_.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
      fail<ValueError>(op_, "attribute '{}' is given twice", text.substr(0, equals));
    }
  }
}

const std::string* Attributes::find(const std::string& key) {
  const auto found = values_.find(key);
  read_[key] = found != values_.end();
  return found == values_.end() ? nullptr : &found->second;
}

std::int64_t Attributes::parse_integer(const std::string& key, const std::string& text) const {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    fail<ValueError>(op_, "attribute '{}' takes whole numbers; got '{}'", key, text);
  }
  return value;
}

int Attributes::parse_axis(const std::string& key, const std::string& text) const {
  const std::int64_t axis = parse_integer(key, text);
  if (axis < -64 || axis > 64) fail<ValueError>(op_, "attribute '{}' names an axis; got {}", key, axis);
  return static_cast<int>(axis);
}

std::int64_t Attributes::integer(const std::string& key, std::int64_t otherwise) {
  const std::string* text = find(key);
  return text == nullptr ? otherwise : parse_integer(key, *text);
}

bool Attributes::boolean(const std::string& key, bool otherwise) {
  const std::string* text = find(key);
  if (text == nullptr) return otherwise;
  if (*text == "true" || *text == "1") return true;
  if (*text == "false" || *text == "0") return false;
  fail<ValueError>(op_, "attribute '{}' is true or false; got '{}'", key, *text);
}

std::string Attributes::text(const std::string& key, const std::string& otherwise) {
  const std::string* text = find(key);
  return text == nullptr ? otherwise : *text;
}

int Attributes::axis(const std::string& key, int otherwise) {
  const std::string* text = find(key);
  return text == nullptr ? otherwise : parse_axis(key, *text);
}

std::vector<int> Attributes::axes(const std::string& key) {
  const std::string* text = find(key);
  std::vector<int> axes;
  if (text == nullptr) return axes;
  for (std::size_t begin = 0; begin <= text->size();) {
    const std::size_t comma = std::min(text->find(',', begin), text->size());
    axes.push_back(parse_axis(key, text->substr(begin, comma - begin)));
    begin = comma + 1;
  }
  return axes;
}

std::array<std::int64_t, 2> Attributes::pair(const std::string& key, std::array<std::int64_t, 2> otherwise) {
  const std::string* text = find(key);
  if (text == nullptr) return otherwise;
  const std::size_t comma = text->find(',');
  if (comma == std::string::npos) {
    const std::int64_t value = parse_integer(key, *text);
    return {value, value};
  }
  return {parse_integer(key, text->substr(0, comma)), parse_integer(key, text->substr(comma + 1))};
}

void Attributes::check_all_read() const {
  std::vector<std::string> known;
  for (const auto& [key, given] : read_) known.push_back(key);
  for (const auto& [key, value] : values_) {
    if (read_.count(key) == 0) {
      fail<ValueError>(op_, "it has no attribute '{}'; it has: {}", key,
                       known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
    }
  }
}

}  // namespace warpline::tools
