// How a batch is cut into micro-batches. A block is the unit of summation: the same samples, computed whole
// by one rank, whoever that is, so that every strategy adds the same numbers.
//
//   count in m   sizes       samples
//   8 in 4       2 2 2 2     01 23 45 67
//   5 in 4       2 1 1 1     01 2 3 4
//   61 in 4      16 15 15 15
//   2 in 4       1 1 0 0     0 1 - -      a short last batch: the blocks at the end are empty
//
// Replicas own contiguous ranges of blocks, cut by the same rule: 4 blocks over 3 replicas are 01 2 3.
#pragma once

#include <cstdint>

namespace warpline::parallel {

struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

// Part i of [0, count) cut into `parts`: sizes differ by at most one, larger first. ValueError: parts < 1, i
// outside, count < 0.
Range part(std::int64_t count, int parts, int i);

// Which part holds item i of [0, count).
int part_of(std::int64_t count, int parts, std::int64_t i);

// What lies below `end`.
Range clip(Range range, std::int64_t end);

class Blocks {
 public:
  Blocks(std::int64_t count, int blocks);  // ValueError: count < 1 or blocks < 1

  std::int64_t count() const { return count_; }  // samples
  int blocks() const { return blocks_; }
  int live() const;  // blocks that are not empty: the first ones
  Range samples(int block) const { return part(count_, blocks_, block); }
  Range samples(Range blocks) const;  // of a range of blocks

 private:
  std::int64_t count_;
  int blocks_;
};

}  // namespace warpline::parallel
