#include "tools/sha256.h"

#include <array>

#include <openssl/evp.h>

#include "kernels/error.h"

namespace warpline::tools {
namespace {

void check(int ok) {
  if (ok != 1) fail<Failure>("sha256", "libcrypto refused to compute a digest; is its FIPS mode set up?");
}

}  // namespace

struct Sha256::State {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  check(EVP_DigestInit_ex(state_->digest.get(), EVP_sha256(), nullptr));
}
Sha256::~Sha256() = default;

void Sha256::add(std::span<const std::byte> bytes) {
  check(EVP_DigestUpdate(state_->digest.get(), bytes.data(), bytes.size()));
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned int length = 0;
  check(EVP_DigestFinal_ex(state_->digest.get(), hash.data(), &length));
  std::string text;
  for (unsigned int i = 0; i < length; ++i) text += fmt::format("{:02x}", hash[i]);
  return text;
}

}  // namespace warpline::tools
