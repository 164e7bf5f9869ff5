// The runtime of `emu`: virtual devices' memory, deferred streams.
#pragma once

#include "kernels/runtime.h"

namespace warpline::emu {

Runtime& runtime();
Runtime& checked_runtime();  // of `emu_checked`

}  // namespace warpline::emu
