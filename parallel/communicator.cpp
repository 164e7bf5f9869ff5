#include "parallel/communicator.h"

namespace warpline::parallel {

Work::State& Work::state() const {
  if (!state_) fail<ValueError>("communicator", "this Work is empty: there is no call to ask about");
  return *state_;
}

void Work::wait() const { state().wait(); }
bool Work::done() const { return state().done(); }
const Signature& Work::signature() const { return state().signature; }

}  // namespace warpline::parallel
