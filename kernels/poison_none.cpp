#include "kernels/poison.h"

namespace warpline {

void poison(void*, std::size_t) {}
void unpoison(void*, std::size_t) {}

}  // namespace warpline
