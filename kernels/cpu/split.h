// How an op is cut into pieces: by its shape alone, never by the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/stream.h"
#include "kernels/thread_pool.h"

namespace warpline::kernels::cpu {

// Elements of an element-wise piece: about 10 microseconds of work, a few times what handing it out costs.
inline constexpr std::int64_t kGrain = 32768;

struct Range {
  std::int64_t begin, end;
  std::int64_t size() const { return end - begin; }
};

inline std::int64_t pieces_of(std::int64_t count, std::int64_t grain) {
  return (count + grain - 1) / std::max<std::int64_t>(grain, 1);
}

// Piece `piece` of `pieces` of 0..count; sizes differ by at most one unit of `align` elements.
inline Range piece_of(std::int64_t count, std::int64_t pieces, std::int64_t piece, std::int64_t align = 1) {
  const std::int64_t units = (count + align - 1) / align;
  const auto cut = [&](std::int64_t p) {
    return std::min(count, (units / pieces * p + units % pieces * p / pieces) * align);
  };
  return {cut(piece), cut(piece + 1)};
}

// body(range, worker) over pieces of about `grain` elements.
template <class Body>
void split(const Stream& stream, std::int64_t count, std::int64_t grain, const Body& body) {
  const std::int64_t pieces = pieces_of(count, grain);
  stream.pool->run(pieces,
                   [&](std::int64_t piece, int worker) { body(piece_of(count, pieces, piece), worker); });
}

// The same for element-wise loops: body(begin, count).
template <class Body>
void split_elements(const Stream& stream, std::int64_t count, const Body& body) {
  const std::int64_t pieces = pieces_of(count, kGrain);
  stream.pool->run(pieces, [&](std::int64_t piece, int) {
    const Range range = piece_of(count, pieces, piece, 16);
    body(range.begin, range.size());
  });
}

}  // namespace warpline::kernels::cpu
