// Attributes of `warpline op`: KEY=VALUE, with PyTorch's names and values. Each is read once by name and
// kind; what nobody read is unknown and refused.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace warpline::tools {

class Attributes {
 public:
  // Throws ValueError for text without '=', an empty key or one that is given twice.
  Attributes(std::string op, const std::vector<std::string>& texts);

  bool has(const std::string& key) const { return values_.count(key) > 0; }
  std::int64_t integer(const std::string& key, std::int64_t otherwise);
  bool boolean(const std::string& key, bool otherwise);  // true, false, 1, 0
  std::string text(const std::string& key, const std::string& otherwise);
  int axis(const std::string& key, int otherwise);
  std::vector<int> axes(const std::string& key);  // "0,1"; empty: none
  std::array<std::int64_t, 2> pair(const std::string& key,
                                   std::array<std::int64_t, 2> otherwise);  // "2" or "2,3"

  // Throws ValueError that names the first attribute nobody read, and those that were.
  void check_all_read() const;

 private:
  const std::string* find(const std::string& key);
  std::int64_t parse_integer(const std::string& key, const std::string& text) const;
  int parse_axis(const std::string& key, const std::string& text) const;

  std::string op_;
  std::map<std::string, std::string> values_;
  std::map<std::string, bool> read_;  // asked for: was it given?
};

}  // namespace warpline::tools
