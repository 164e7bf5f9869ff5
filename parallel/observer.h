// What the executor tells while it works: times, logs and traces hang on these calls, all on the rank's own
// thread. (What becomes of its messages a communicator tells by itself: CallObserver.)
#pragma once

#include "parallel/plan.h"

namespace warpline::parallel {

class Observer {
 public:
  virtual ~Observer() = default;
  // Around every action that is run. A ReduceGrads may be issued within the Backward that fills its bucket.
  virtual void before(const Action&) {}
  virtual void after(const Action&) {}
  // Around every wait for a call that is not done yet.
  virtual void waiting() {}
  virtual void waited() {}
};

}  // namespace warpline::parallel
