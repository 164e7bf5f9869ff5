// The runtime part of what CUDA has under this name.
#pragma once

#include "kernels/emu/cuda_runtime/cuda_runtime.h"
