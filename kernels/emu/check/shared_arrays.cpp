#include "kernels/emu/check/shared_arrays.h"

#include <algorithm>

namespace warpline::emu::check {

void SharedArrays::begin_kernel() {
  locals_ = thread_local_block();
  dynamic_begin_ = warpline_dynamic_shared;
  if (!local_at_.empty()) return;
  local_at_.assign(locals_.bytes, -1);
  for (std::size_t i = 0; i < thread_locals().size(); ++i) {
    const Variable& local = thread_locals()[i];
    std::fill_n(local_at_.begin() + static_cast<std::ptrdiff_t>(local.offset), local.bytes,
                static_cast<std::int32_t>(i));
    built_in_.push_back(local.name.rfind("warpline::emu::", 0) == 0);
  }
}

const Variable* SharedArrays::array_at(std::size_t offset) const {
  if (offset >= local_at_.size() || local_at_[offset] < 0) return nullptr;
  return &thread_locals()[static_cast<std::size_t>(local_at_[offset])];
}

}  // namespace warpline::emu::check
