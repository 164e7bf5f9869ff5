#include "engine/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/file.h"
#include "kernels/error.h"

namespace warpline {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "tensor bytes are written as they lie in memory");

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the format's own library
constexpr std::string_view kMetadata = "__metadata__";

constexpr std::array<std::pair<std::string_view, DType>, 6> kDTypes = {{{"F32", DType::Float32},
                                                                        {"F64", DType::Float64},
                                                                        {"I64", DType::Int64},
                                                                        {"I32", DType::Int32},
                                                                        {"U8", DType::UInt8},
                                                                        {"U32", DType::UInt32}}};

std::string_view format_name(DType dtype) {
  return std::ranges::find(kDTypes, dtype, &std::pair<std::string_view, DType>::second)->first;
}

// Hears what a text holds and remembers the first key that an object has twice. Errors are left to the parse.
class UniqueKeys final : public nlohmann::json_sax<Json> {
 public:
  std::optional<std::string> twice;

  bool key(std::string& name) override {
    if (!open_.back().insert(name).second && !twice) twice = name;
    return true;
  }
  bool start_object(std::size_t) override {
    open_.emplace_back();
    return true;
  }
  bool end_object() override {
    open_.pop_back();
    return true;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(Json::binary_t&) override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  std::vector<std::set<std::string>> open_;  // keys of the objects that are open
};

// Reads one file; every complaint names it.
class Reader {
 public:
  explicit Reader(const std::string& path)
      : path_(path), bytes_(read_file_whole(path, std::numeric_limits<std::size_t>::max())) {}

  SafetensorsFile read() {
    const std::string_view text = header_text();
    const Json header = parse(text);
    data_ = std::span(bytes_).subspan(kLengthBytes + text.size());
    SafetensorsFile file;
    std::vector<Placed> tensors;
    for (const auto& [name, entry] : header.items()) {
      if (name == kMetadata) {
        file.metadata = metadata(entry);
      } else {
        tensors.push_back(tensor(name, entry));
      }
    }
    check_places(tensors);
    for (Placed& placed : tensors) file.tensors.push_back(std::move(placed.tensor));
    return file;
  }

 private:
  struct Placed {
    HostTensor tensor;
    std::uint64_t begin, end;
  };

  template <class... A>
  [[noreturn]] void refuse(fmt::format_string<A...> text, A&&... values) const {
    fail<FileError>("safetensors", "{}: {}", path_, fmt::format(text, std::forward<A>(values)...));
  }

  std::string_view header_text() const {
    if (bytes_.size() < kLengthBytes) refuse("{} bytes are too short for a tensor file", bytes_.size());
    std::uint64_t length = 0;
    std::memcpy(&length, bytes_.data(), kLengthBytes);
    if (length > kMaxHeaderBytes) {
      refuse("the header claims {} bytes, at most {} are allowed; is it a tensor file?", length,
             kMaxHeaderBytes);
    }
    if (length > bytes_.size() - kLengthBytes) {
      refuse("the header claims {} bytes, the file has {} after the length; it was cut short", length,
             bytes_.size() - kLengthBytes);
    }
    const std::string_view text(reinterpret_cast<const char*>(bytes_.data()) + kLengthBytes, length);
    if (!text.starts_with('{')) refuse("the header must start with '{{'");
    if (text.find('\0') != text.npos) refuse("the header must be text; it holds a byte 0");
    return text;
  }

  // The JSON library keeps the last of two equal keys, so keys are watched first. (Its callbacks for the same
  // pass take time quadratic in the keys.)
  Json parse(std::string_view text) const {
    try {
      UniqueKeys keys;
      Json::sax_parse(text, &keys);
      if (keys.twice) refuse("the key '{}' is there twice", *keys.twice);
      return Json::parse(text);
    } catch (const Json::exception& error) {
      refuse("the header is not JSON: {}", error.what());
    }
  }

  std::map<std::string, std::string> metadata(const Json& entry) const {
    if (!entry.is_object()) refuse("{} must be an object", kMetadata);
    std::map<std::string, std::string> result;
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) refuse("{} '{}' must be text", kMetadata, key);
      result[key] = value.get<std::string>();
    }
    return result;
  }

  // A list of non-negative integers that fit int64.
  std::vector<std::int64_t> numbers(const std::string& name, const char* key, const Json& entry) const {
    const auto list = entry.find(key);
    if (list == entry.end() || !list->is_array()) refuse("tensor '{}' has no list '{}'", name, key);
    std::vector<std::int64_t> result;
    for (const Json& value : *list) {
      if (!value.is_number_unsigned() || value.get<std::uint64_t>() > INT64_MAX) {
        refuse("tensor '{}' has {} in its '{}', which takes whole numbers from 0 on", name, value.dump(),
               key);
      }
      result.push_back(value.get<std::int64_t>());
    }
    return result;
  }

  DType dtype(const std::string& name, const Json& entry) const {
    const auto text = entry.find("dtype");
    if (text == entry.end() || !text->is_string()) refuse("tensor '{}' has no dtype", name);
    const auto& wanted = text->get_ref<const std::string&>();
    for (const auto& [known, dtype] : kDTypes) {
      if (wanted == known) return dtype;
    }
    std::vector<std::string_view> known;
    for (const auto& row : kDTypes) known.push_back(row.first);
    refuse("tensor '{}' has dtype {}, and only {} are read here; convert it", name, text->dump(),
           fmt::join(known, ", "));
  }

  Placed tensor(const std::string& name, const Json& entry) const {
    if (!entry.is_object()) refuse("tensor '{}' must be an object", name);
    for (const auto& [key, value] : entry.items()) {
      if (key != "dtype" && key != "shape" && key != "data_offsets") {
        refuse("tensor '{}' has a key '{}', which the format does not know", name, key);
      }
    }
    Placed placed{{name, dtype(name, entry), numbers(name, "shape", entry), {}}, 0, 0};
    const std::vector<std::int64_t> offsets = numbers(name, "data_offsets", entry);
    if (offsets.size() != 2 || offsets[0] > offsets[1]) {
      refuse("tensor '{}' needs 'data_offsets' [begin, end]: found {}", name, to_string(offsets));
    }
    placed.begin = static_cast<std::uint64_t>(offsets[0]);
    placed.end = static_cast<std::uint64_t>(offsets[1]);
    if (placed.end > data_.size()) {
      refuse("tensor '{}' ends at byte {} of the data, which has {}; the file was cut short", name,
             placed.end, data_.size());
    }
    const std::int64_t held = offsets[1] - offsets[0];
    std::int64_t wanted = -1;
    try {
      wanted = byte_count(placed.tensor.shape, placed.tensor.dtype);
    } catch (const ShapeError&) {  // more than any file holds
    }
    if (wanted != held) {
      refuse("tensor '{}' of {} {} does not fill its {} bytes", name, to_string(placed.tensor.dtype),
             to_string(placed.tensor.shape), held);
    }
    const auto bytes = data_.subspan(placed.begin, placed.end - placed.begin);
    placed.tensor.bytes.assign(bytes.begin(), bytes.end());
    return placed;
  }

  // One after the other, from the first byte to the last.
  void check_places(std::vector<Placed>& tensors) const {
    std::ranges::stable_sort(tensors, {}, [](const Placed& t) { return std::pair(t.begin, t.end); });
    std::uint64_t reached = 0;
    for (const Placed& placed : tensors) {
      if (placed.begin != reached) {
        refuse("tensor '{}' {} at byte {} of the data, the tensor before it ends at {}", placed.tensor.name,
               placed.begin < reached ? "overlaps another: it starts" : "leaves a gap: it starts",
               placed.begin, reached);
      }
      reached = placed.end;
    }
    if (reached != data_.size()) {
      refuse("{} bytes lie behind the last tensor", data_.size() - reached);
    }
  }

  std::string path_;
  std::vector<std::byte> bytes_;
  std::span<const std::byte> data_;
};

void check(const HostTensor& tensor) {
  if (tensor.name == kMetadata) fail<ValueError>("safetensors", "no tensor may be named {}", kMetadata);
  const std::int64_t wanted = byte_count(tensor.shape, tensor.dtype);
  if (wanted != std::ssize(tensor.bytes)) {
    fail<ValueError>("safetensors", "tensor '{}' of {} {} needs {} bytes, it has {}", tensor.name,
                     to_string(tensor.dtype), to_string(tensor.shape), wanted, tensor.bytes.size());
  }
}

}  // namespace

HostTensor to_host_tensor(std::string name, const Tensor& tensor) {
  HostTensor host{std::move(name), tensor.dtype(), tensor.shape(),
                  std::vector<std::byte>(static_cast<std::size_t>(tensor.bytes()))};
  tensor.copy_to_host(host.bytes, tensor.dtype());
  return host;
}

Tensor to_tensor(Context& context, const HostTensor& tensor) {
  return Tensor::from_bytes(context, tensor.bytes, tensor.shape, tensor.dtype);
}

SafetensorsFile read_safetensors(const std::string& path) { return Reader(path).read(); }

void write_safetensors(const std::string& path, const SafetensorsFile& file) {
  std::vector<const HostTensor*> order;
  for (const HostTensor& tensor : file.tensors) {
    check(tensor);
    order.push_back(&tensor);
  }
  std::ranges::stable_sort(order, std::greater<>{}, [](const HostTensor* t) { return size_of(t->dtype); });

  Json header = Json::object();
  if (!file.metadata.empty()) header[kMetadata] = file.metadata;
  std::uint64_t end = 0;
  for (const HostTensor* tensor : order) {
    if (header.contains(tensor->name)) {
      fail<ValueError>("safetensors", "two tensors are named '{}'", tensor->name);
    }
    const std::uint64_t begin = std::exchange(end, end + tensor->bytes.size());
    header[tensor->name] = {
        {"dtype", format_name(tensor->dtype)}, {"shape", tensor->shape}, {"data_offsets", {begin, end}}};
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception& error) {
    fail<ValueError>("safetensors", "names and metadata must be UTF-8: {}", error.what());
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the data starts aligned
  const std::uint64_t length = text.size();

  std::vector<std::span<const std::byte>> parts = {std::as_bytes(std::span(&length, 1)),
                                                   std::as_bytes(std::span(text))};
  for (const HostTensor* tensor : order) parts.emplace_back(tensor->bytes);
  write_file_whole(path, parts);
}

}  // namespace warpline
