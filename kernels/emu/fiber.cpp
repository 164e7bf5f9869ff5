#include "kernels/emu/fiber.h"

#include <boost/context/protected_fixedsize_stack.hpp>

#include "kernels/poison.h"

namespace warpline::emu {

namespace {

using Stacks = boost::context::protected_fixedsize_stack;  // behind guard pages

// Each stack begins a few cache lines later in its page than the one before: hundreds of stacks whose tops
// lay at one place in a page would share one set of the first cache.
std::size_t next_shift() {
  constexpr std::size_t kPage = 4096, kShift = 320;
  static thread_local std::size_t made = 0;
  return made++ * kShift % kPage;
}

thread_local Fiber* starting = nullptr;

}  // namespace

Fiber::Fiber(std::size_t stack_bytes, void (*body)(Fiber&))
    : stack_(Stacks(stack_bytes).allocate()), body_(body) {}

Fiber::~Fiber() { Stacks().deallocate(stack_); }

FiberContext Fiber::start() {
  starting = this;
  unpoison(static_cast<char*>(stack_.sp) - stack_.size, stack_.size);  // what a dropped thread left there
  const std::size_t shift = next_shift();
  return make_context(static_cast<char*>(stack_.sp) - shift, stack_.size - shift, &enter);
}

void Fiber::enter() {
  Fiber& self = *starting;
  self.body_(self);
}

}  // namespace warpline::emu
