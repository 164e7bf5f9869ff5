// Where a kernel runs. On `cpu` that is a thread pool and its scratch memory; `ref` ignores both; a device
// target puts its native stream here. Kernels on `ref` and `cpu` have finished when they return.
#pragma once

#include "kernels/device.h"

namespace warpline {

class ThreadPool;
class Scratch;

struct Stream {
  Device device;
  ThreadPool* pool = nullptr;
  Scratch* scratch = nullptr;
  void* native = nullptr;  // of a device target
};

}  // namespace warpline
