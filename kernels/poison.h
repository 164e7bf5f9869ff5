// Memory that is kept for later use hides an overrun or a stale pointer from a sanitizer; so whoever keeps
// some (the caching allocator, kernels' scratch) makes loud what nobody owns at the time. The build chooses
// one source: poison_none.cpp, poison_address.cpp (NaN pattern, and every touch is an AddressSanitizer
// report) or poison_thread.cpp (NaN pattern: a stale read shows in the numbers).
#pragma once

#include <cstddef>

namespace warpline {

void poison(void* data, std::size_t bytes);    // these bytes have no owner any more
void unpoison(void* data, std::size_t bytes);  // these bytes have one again
bool poisons();                                // does this build?

}  // namespace warpline
