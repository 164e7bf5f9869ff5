#include "parallel/signature.h"

#include <fmt/core.h>

namespace warpline::parallel {

std::string_view to_string(CallKind kind) {
  switch (kind) {
    case CallKind::Send:
      return "send";
    case CallKind::Recv:
      return "recv";
    case CallKind::AllReduce:
      return "all_reduce";
    case CallKind::ReduceScatter:
      return "reduce_scatter";
    case CallKind::AllGather:
      return "all_gather";
    case CallKind::Broadcast:
      return "broadcast";
    case CallKind::Barrier:
      return "barrier";
    case CallKind::Split:
      return "split";
  }
  return "?";
}

std::string_view to_string(ReduceOp op) { return op == ReduceOp::Sum ? "sum" : "max"; }

std::string to_string(const Signature& signature) {
  std::string text = fmt::format("#{} {}", signature.sequence, to_string(signature.kind));
  const auto elements = [&] {
    return fmt::format(" {} x {}", signature.count, warpline::to_string(signature.dtype));
  };
  switch (signature.kind) {
    case CallKind::Send:
      text += fmt::format("{} to rank {}", elements(), signature.peer);
      break;
    case CallKind::Recv:
      text += fmt::format("{} from rank {}", elements(), signature.peer);
      break;
    case CallKind::AllReduce:
    case CallKind::ReduceScatter:
      text += fmt::format(" {}{}", to_string(signature.op), elements());
      break;
    case CallKind::AllGather:
      text += elements();
      break;
    case CallKind::Broadcast:
      text += fmt::format("{} from root {}", elements(), signature.root);
      break;
    case CallKind::Barrier:
    case CallKind::Split:
      break;
  }
  if (signature.tag != -1) text += fmt::format(", tag {}", signature.tag);
  return text;
}

std::string difference(const Signature& mine, const Signature& theirs) {
  const bool pair = (mine.kind == CallKind::Send && theirs.kind == CallKind::Recv) ||
                    (mine.kind == CallKind::Recv && theirs.kind == CallKind::Send);
  if (!pair && (mine.kind != theirs.kind || is_point_to_point(mine.kind))) {
    return fmt::format("{} against {}", to_string(mine.kind), to_string(theirs.kind));
  }
  if (mine.count != theirs.count) return fmt::format("count {} against {}", mine.count, theirs.count);
  if (mine.dtype != theirs.dtype) {
    return fmt::format("dtype {} against {}", warpline::to_string(mine.dtype),
                       warpline::to_string(theirs.dtype));
  }
  if (mine.op != theirs.op)
    return fmt::format("operation {} against {}", to_string(mine.op), to_string(theirs.op));
  if (mine.root != theirs.root) return fmt::format("root {} against {}", mine.root, theirs.root);
  if (mine.tag != theirs.tag) return fmt::format("tag {} against {}", mine.tag, theirs.tag);
  return {};
}

}  // namespace warpline::parallel
