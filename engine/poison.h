// Memory that nobody owns is made loud. The build chooses one source: poison_none.cpp, poison_address.cpp
// (NaN pattern, and every touch is an AddressSanitizer report) or poison_thread.cpp (NaN pattern: a stale
// read shows in the numbers).
#pragma once

#include <cstddef>

namespace warpline {

void poison(void* data, std::size_t bytes);    // the block has no owner any more
void unpoison(void* data, std::size_t bytes);  // these bytes have one again

}  // namespace warpline
