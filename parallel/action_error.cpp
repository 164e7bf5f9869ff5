#include "parallel/action_error.h"

#include <algorithm>
#include <string>

#include <fmt/core.h>

#include "parallel/caught_error.h"
#include "parallel/communicator.h"
#include "parallel/tokens.h"

namespace warpline::parallel {
namespace {

constexpr std::size_t kContext = 3;  // actions shown on either side

std::string tokens(const std::vector<Action>& list, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t p = begin; p < end; ++p) text += (p == begin ? "" : " ") + to_token(list[p]);
  return text.empty() ? "nothing" : text;
}

}  // namespace

void rethrow_in_action(const std::exception_ptr& error, int rank, const std::vector<Action>& list,
                       std::size_t position) {
  try {
    std::rethrow_exception(error);
  } catch (const PeerError&) {
    throw;
  } catch (...) {
    const std::size_t end = std::min(list.size(), position + 1 + kContext);
    describe(error).rethrow(fmt::format(
        "[executor] rank {}, action {}, {} (after {}; before {}): ", rank, position, to_token(list[position]),
        tokens(list, position - std::min(position, kContext), position), tokens(list, position + 1, end)));
  }
}

}  // namespace warpline::parallel
