// Stacks that one OS thread switches between. A fiber runs CUDA threads one after the other; when one of them
// meets a barrier its fiber stops there, and another goes on.
#pragma once

#include <cstddef>

#include <boost/context/stack_context.hpp>

#include "kernels/emu/switch.h"

namespace warpline::emu {

class Fiber {
 public:
  // `body` must not return or throw. What is on the stack is dropped, not unwound, when the fiber ends or
  // starts anew.
  Fiber(std::size_t stack_bytes, void (*body)(Fiber&));
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  FiberContext start();         // calls body, for the very next switch
  FiberContext rest = nullptr;  // while it waits for work

 private:
  static void enter();

  boost::context::stack_context stack_;
  void (*body_)(Fiber&);
};

}  // namespace warpline::emu
