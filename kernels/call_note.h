// Which row of the kernel table the launches of this thread are for. A profile adds up the cost of an op's
// kernels by that.
#pragma once

#include <atomic>
#include <string_view>

namespace warpline::kernels {

struct CallNote {
  std::string_view op, variant;
  double flops = 0;
};

namespace detail {
inline std::atomic<bool> notes_wanted = false;
inline thread_local CallNote note;
}  // namespace detail

// From now on find() leaves a note; off by default, since a note costs a call of the flops formula.
inline void want_notes(bool wanted) { detail::notes_wanted = wanted; }
inline bool notes_wanted() { return detail::notes_wanted; }
inline void leave_note(const CallNote& note) { detail::note = note; }

// For a launch. The operations belong to the first one of a call.
inline CallNote take_note() {
  const CallNote note = detail::note;
  detail::note.flops = 0;
  return note;
}

}  // namespace warpline::kernels
