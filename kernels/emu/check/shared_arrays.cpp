#include "kernels/emu/check/shared_arrays.h"

#include <algorithm>

#include "kernels/emu/warp_call.h"

namespace warpline::emu::check {

void SharedArrays::begin_kernel(std::size_t dynamic_bytes) {
  locals_ = thread_local_block();
  dynamic_bytes_ = dynamic_bytes;
  if (!local_at_.empty()) return;
  local_at_.assign(locals_.bytes, -1);
  for (std::size_t i = 0; i < thread_locals().size(); ++i) {
    const Variable& local = thread_locals()[i];
    std::fill_n(local_at_.begin() + static_cast<std::ptrdiff_t>(local.offset), local.bytes,
                static_cast<std::int32_t>(i));
    built_in_.push_back(local.name.rfind("warpline::emu::", 0) == 0);
  }
}

SharedArrays::Place SharedArrays::find(const void* address) const {
  const auto* const byte = static_cast<const char*>(address);
  // Thread-local itself, so it comes first.
  if (byte >= warpline_dynamic_shared && byte < warpline_dynamic_shared + kMostSharedBytes)
    return {Kind::Dynamic, static_cast<std::size_t>(byte - warpline_dynamic_shared)};
  if (byte >= locals_.begin && byte < locals_.begin + locals_.bytes) {
    const auto offset = static_cast<std::size_t>(byte - locals_.begin);
    const std::int32_t local = local_at_[offset];
    const bool built_in = local >= 0 && built_in_[static_cast<std::size_t>(local)];
    return {built_in ? Kind::BuiltIn : Kind::Static, offset};
  }
  return {};
}

const Variable* SharedArrays::array_at(std::size_t offset) const {
  if (offset >= local_at_.size() || local_at_[offset] < 0) return nullptr;
  return &thread_locals()[static_cast<std::size_t>(local_at_[offset])];
}

}  // namespace warpline::emu::check
