#include "parallel/blocks.h"

#include <algorithm>

#include "kernels/error.h"

namespace warpline::parallel {

Range part(std::int64_t count, int parts, int i) {
  if (parts < 1) fail<ValueError>("blocks", "the number of parts is {}; it must be at least 1", parts);
  if (count < 0) fail<ValueError>("blocks", "the count is {}; it must not be negative", count);
  if (i < 0 || i >= parts) fail<ValueError>("blocks", "part {} of {} does not exist", i, parts);
  const std::int64_t size = count / parts;
  const std::int64_t larger = count % parts;  // the first ones get one more
  const std::int64_t begin = i * size + std::min<std::int64_t>(i, larger);
  return {begin, begin + size + (i < larger ? 1 : 0)};
}

int part_of(std::int64_t count, int parts, std::int64_t i) {
  for (int p = 0; p < parts; ++p) {
    if (i < part(count, parts, p).end) return p;
  }
  fail<ValueError>("blocks", "item {} of {} does not exist", i, count);
}

Range clip(Range range, std::int64_t end) { return {std::min(range.begin, end), std::min(range.end, end)}; }

Blocks::Blocks(std::int64_t count, int blocks) : count_(count), blocks_(blocks) {
  if (count < 1) fail<ValueError>("blocks", "a batch has {} samples; it must have at least 1", count);
  if (blocks < 1) fail<ValueError>("blocks", "{} micro-batches; there must be at least 1", blocks);
}

int Blocks::live() const { return static_cast<int>(std::min<std::int64_t>(count_, blocks_)); }

Range Blocks::samples(Range blocks) const {
  if (blocks.size() == 0) return {};
  return {samples(static_cast<int>(blocks.begin)).begin, samples(static_cast<int>(blocks.end - 1)).end};
}

}  // namespace warpline::parallel
