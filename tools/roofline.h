// The roofline (Williams, Waterman, Patterson, 2009): a kernel is no faster than the GPU computes, nor than
// it moves the bytes that the kernel's operations need.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace warpline::tools {

// Of NVIDIA's data sheets: float32 without tensor cores.
struct Gpu {
  std::string name;
  double flops, bytes;     // a second
  int compute_capability;  // 80: 8.0
};

inline const std::vector<Gpu>& gpus() {
  static const std::vector<Gpu> list{
      {"t4", 8.1e12, 320e9, 75},        {"a100", 19.5e12, 2039e9, 80}, {"l4", 30.3e12, 300e9, 89},
      {"rtx4090", 82.6e12, 1008e9, 89}, {"h100", 67e12, 3350e9, 90},   {"h200", 67e12, 4800e9, 90},
  };
  return list;
}

// FLOP/s at most, for so many operations on so many bytes of device memory.
inline double roofline(const Gpu& gpu, double flops, double bytes) {
  return bytes == 0 ? gpu.flops : std::min(gpu.flops, flops / bytes * gpu.bytes);
}

}  // namespace warpline::tools
