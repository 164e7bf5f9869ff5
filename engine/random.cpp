#include "engine/random.h"

#include <vector>

#include "engine/checks.h"
#include "engine/inplace.h"
#include "engine/transfer.h"

namespace warpline {
namespace {

constexpr std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

std::array<std::uint32_t, 4> block(std::uint64_t seed, std::uint64_t stream, std::uint64_t number) {
  return philox4x32({low(number), high(number), low(stream), high(stream)}, {low(seed), high(seed)});
}

constexpr double to_unit(std::uint32_t bits) { return static_cast<double>(bits >> 8) * 0x1p-24; }

template <class T>
void fill_values(Context& context, const Tensor& tensor, std::uint64_t seed, std::uint64_t stream,
                 double bound) {
  std::vector<T> values(static_cast<std::size_t>(tensor.count()));
  std::array<std::uint32_t, 4> words{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % 4 == 0) words = block(seed, stream, i / 4);
    values[i] = static_cast<T>((2.0 * to_unit(words[i % 4]) - 1.0) * bound);
  }
  host_to_device(tensor.data(), values.data(), values.size() * sizeof(T), context.stream());
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {high(b) ^ counter[1] ^ key[0], low(b), high(a) ^ counter[3] ^ key[1], low(a)};
    key[0] += 0x9E3779B9;  // golden ratio
    key[1] += 0xBB67AE85;  // sqrt(3) - 1
  }
  return counter;
}

std::uint64_t stream_id(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::uint32_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return block(seed, stream, index / 4)[index % 4];
}

double uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return to_unit(random_bits(seed, stream, index));
}

void fill_uniform(Context& context, Tensor& tensor, std::uint64_t seed, std::string_view name, double bound) {
  const DType dtype = check_floating("fill_uniform", {{"tensor", tensor}});
  begin_in_place("fill_uniform", context, tensor);
  if (dtype == DType::Float32) {
    fill_values<float>(context, tensor, seed, stream_id(name), bound);
  } else {
    fill_values<double>(context, tensor, seed, stream_id(name), bound);
  }
}

}  // namespace warpline
