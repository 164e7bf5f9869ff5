// A training run at rest: one safetensors file with PyTorch's parameter names, the optimiser's state and
// where the run stood. It does not know how the run was split, so any strategy continues any other's.
#pragma once

#include <cstdint>
#include <string>

#include "engine/context.h"
#include "parallel/worker.h"

namespace warpline::tools {

struct Position {
  std::string model;
  std::string optimizer;
  std::int64_t step = 0;     // optimiser steps done
  std::int64_t epoch = 0;    // epochs done
  std::int64_t samples = 0;  // samples of the current epoch done
  std::uint64_t seed = 1;
};

struct Checkpoint {
  Position position;
  parallel::State state;
};

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);
// FileError: not a checkpoint, or of another format version.
Checkpoint read_checkpoint(Context& context, const std::string& path);

// Hex SHA-256 over name, dtype, shape and little-endian bytes of each tensor, in the order of full names;
// optimiser state is left out. The same whatever held the parameters.
std::string parameters_sha256(const parallel::State& state);

}  // namespace warpline::tools
