// SHA-256 by libcrypto.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace warpline::tools {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  void add(std::span<const std::byte> bytes);
  void add(std::string_view text) { add(std::as_bytes(std::span(text.data(), text.size()))); }
  std::string hex();  // ends the digest: once

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpline::tools
