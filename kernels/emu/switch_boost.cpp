#include <boost/context/detail/fcontext.hpp>

#include "kernels/emu/switch.h"

namespace warpline::emu {

namespace {

namespace fcontext = boost::context::detail;

thread_local void (*starting)() = nullptr;

void note_left(fcontext::transfer_t transfer) { *static_cast<FiberContext*>(transfer.data) = transfer.fctx; }

void enter(fcontext::transfer_t transfer) {
  note_left(transfer);
  starting();
}

}  // namespace

FiberContext make_context(void* top, std::size_t bytes, void (*body)()) {
  starting = body;  // the same for every stack of a program
  return fcontext::make_fcontext(top, bytes, &enter);
}

extern "C" void warpline_switch_fiber(FiberContext* left, FiberContext to) {
  note_left(fcontext::jump_fcontext(to, left));
}

}  // namespace warpline::emu
