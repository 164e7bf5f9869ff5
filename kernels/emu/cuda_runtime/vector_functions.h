// make_float4 and its like are beside the types.
#pragma once

#include "kernels/emu/cuda_runtime/vector_types.h"
