#include "tools/versions.h"

#include <CLI/Version.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <openssl/crypto.h>
#include <openssl/opensslv.h>
#include <zlib.h>

namespace warpline::tools {

std::vector<LibraryVersion> library_versions() {
  const std::string fmt_version =
      fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
  const std::string json_version = fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                                               NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH);
  return {{"zlib", ZLIB_VERSION, zlibVersion(), "gzip data sets"},
          {"libcrypto", OPENSSL_VERSION_STR, OpenSSL_version(OPENSSL_VERSION_STRING), "SHA-256"},
          {"fmt", fmt_version, fmt_version, "text"},
          {"nlohmann-json", json_version, json_version, "JSON (headers only)"},
          {"CLI11", CLI11_VERSION, CLI11_VERSION, "command line (headers only)"}};
}

std::string compiler_version() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

}  // namespace warpline::tools
