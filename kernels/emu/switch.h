// The bare switch between stacks; the build chooses switch_x86_64.cpp or switch_boost.cpp.
#pragma once

#include <cstddef>

namespace warpline::emu {

// Where a stack goes on.
using FiberContext = void*;

// A stack below `top` that begins with a call of `body`, which must not return.
FiberContext make_context(void* top, std::size_t bytes, void (*body)());

// Leaves the running stack and goes on in `to`; returns when somebody switches to what was put into *left.
extern "C" void warpline_switch_fiber(FiberContext* left, FiberContext to);

}  // namespace warpline::emu
