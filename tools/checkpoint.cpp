#include "tools/checkpoint.h"

#include <charconv>
#include <limits>
#include <map>
#include <vector>

#include <fmt/core.h>

#include "engine/safetensors.h"
#include "kernels/error.h"
#include "tools/sha256.h"

namespace warpline::tools {
namespace {

constexpr const char* kFormat = "warpline checkpoint";
constexpr const char* kVersion = "1";

const std::string& metadata(const SafetensorsFile& file, const std::string& path, const std::string& key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) {
    fail<FileError>("checkpoint",
                    "{} has no '{}' in its metadata; it was not written by warpline train --checkpoint", path,
                    key);
  }
  return found->second;
}

template <class T>
T number(const SafetensorsFile& file, const std::string& path, const std::string& key) {
  const std::string& text = metadata(file, path, key);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr T kMost =
      std::is_signed_v<T> ? T{1} << 50 : std::numeric_limits<T>::max();  // counts go on from there
  if (error != std::errc{} || end != text.data() + text.size() || value < T{0} || value > kMost) {
    fail<FileError>("checkpoint", "{}: '{}' must be a whole number from 0 to {}; found '{}'", path, key,
                    kMost, text);
  }
  return value;
}

}  // namespace

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  SafetensorsFile file;
  const Position& position = checkpoint.position;
  file.metadata = {{"format", kFormat},
                   {"format_version", kVersion},
                   {"model", position.model},
                   {"optimizer", position.optimizer},
                   {"step", std::to_string(position.step)},
                   {"epoch", std::to_string(position.epoch)},
                   {"sample_position", std::to_string(position.samples)},
                   {"seed", std::to_string(position.seed)}};
  for (const auto& [name, tensor] : checkpoint.state) {
    file.tensors.push_back(to_host_tensor(name, tensor));
  }
  write_safetensors(path, file);
}

Checkpoint read_checkpoint(Context& context, const std::string& path) {
  const SafetensorsFile file = read_safetensors(path);
  if (metadata(file, path, "format") != kFormat || metadata(file, path, "format_version") != kVersion) {
    fail<FileError>("checkpoint", "{} is '{}' version {}; this program reads '{}' version {}", path,
                    metadata(file, path, "format"), metadata(file, path, "format_version"), kFormat,
                    kVersion);
  }
  Checkpoint checkpoint;
  checkpoint.position.model = metadata(file, path, "model");
  checkpoint.position.optimizer = metadata(file, path, "optimizer");
  checkpoint.position.step = number<std::int64_t>(file, path, "step");
  checkpoint.position.epoch = number<std::int64_t>(file, path, "epoch");
  checkpoint.position.samples = number<std::int64_t>(file, path, "sample_position");
  checkpoint.position.seed = number<std::uint64_t>(file, path, "seed");
  const Position& position = checkpoint.position;
  if ((position.step == 0) != (position.epoch == 0 && position.samples == 0)) {
    fail<FileError>("checkpoint", "{} contradicts itself: step {}, epoch {}, sample {}", path, position.step,
                    position.epoch, position.samples);
  }
  for (const HostTensor& tensor : file.tensors) {
    checkpoint.state.emplace(tensor.name, to_tensor(context, tensor));
  }
  return checkpoint;
}

std::string parameters_sha256(const parallel::State& state) {
  Sha256 digest;
  for (const auto& [name, tensor] : state) {  // a map: sorted by name
    if (name.starts_with(parallel::kOptimizerPrefix)) continue;
    digest.add(fmt::format("{} {} {}\n", name, to_string(tensor.dtype()), to_string(tensor.shape())));
    digest.add(to_host_tensor(name, tensor).bytes);
  }
  return digest.hex();
}

}  // namespace warpline::tools
