// Tensor files in the safetensors format (github.com/huggingface/safetensors): 8 bytes with the length of a
// JSON header, little-endian; the header, which gives each tensor's dtype, shape and place; then the data.
// Any safetensors library reads what we write, and PyTorch users' files are read here, if they tell the
// truth.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "engine/tensor.h"

namespace warpline {

struct HostTensor {
  std::string name;
  DType dtype = DType::Float32;
  Shape shape;
  std::vector<std::byte> bytes;  // row-major, little-endian
};

struct SafetensorsFile {
  std::map<std::string, std::string> metadata;
  std::vector<HostTensor> tensors;  // read: in the order of their data
};

HostTensor to_host_tensor(std::string name, const Tensor& tensor);
Tensor to_tensor(Context& context, const HostTensor& tensor);

// Throws FileError, naming file and problem, for anything that the format forbids: truncated, header longer
// than the file or 100 MB, bad JSON, a key twice, an unknown or (here) unsupported dtype, sizes that do not
// fit the offsets, data that overlaps, has gaps or ends elsewhere than the file.
SafetensorsFile read_safetensors(const std::string& path);

// Whole or not at all (engine/file.h). ValueError for a name that is taken or reserved or not UTF-8, and for
// bytes that do not fit dtype and shape. Larger element types lie first, so that all data is aligned.
void write_safetensors(const std::string& path, const SafetensorsFile& file);

}  // namespace warpline
