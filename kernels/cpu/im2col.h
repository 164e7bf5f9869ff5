// One image's patches as a matrix, so that a convolution is a matrix product (Chellapilla et al., High
// Performance Convolutional Neural Networks for Document Processing, 2006). Patches are taken from a padded
// copy of the image, so that no inner loop asks where the image ends, and for a few output rows at a time (at
// least one), so that the matrix stays in the second cache unless a row alone is larger.
#pragma once

#include "kernels/args.h"
#include "kernels/cpu/split.h"

namespace warpline::kernels::cpu {

// The patches of `channels` planes (the channels of a group). Buffers are the caller's, of at least the sizes
// given here. `lines` are output rows; a block of them has lines * out_w patches.
class Patches {
 public:
  Patches(const Conv2dArgs& args, std::int64_t channels);

  std::int64_t cells() const { return channels_ * args_.kernel_h * args_.kernel_w; }  // of a patch
  std::int64_t block_lines() const { return block_lines_; }                           // of a full block
  std::int64_t padded_size() const;  // floats of the padded copy
  std::int64_t matrix_size() const;  // floats of a block's matrix; its rows may be read kPanel floats too far

  void pad(const float* x, float* padded) const;
  void to_columns(const float* padded, Range lines, float* matrix) const;  // cells() x patches
  void to_rows(const float* padded, Range lines, float* matrix) const;     // patches x cells()

  // The transposes of pad and to_columns: each cell is added to the pixel that it came from.
  void clear(float* padded) const;
  void add_columns(const float* matrix, Range lines, float* padded) const;
  void unpad(const float* padded, float* dx) const;  // overwrites dx

  // body(lines) block by block.
  template <class Body>
  void each_block(const Body& body) const {
    for (std::int64_t h = 0; h < args_.out_h; h += block_lines_) {
      body(Range{h, std::min(args_.out_h, h + block_lines_)});
    }
  }

 private:
  template <class Body>
  void each_padded_row(const Body& body) const;
  // body(first padded pixel of the cell's column of patches) for each cell in order
  template <class Body>
  void each_cell(Range lines, const Body& body) const;

  const Conv2dArgs& args_;
  std::int64_t channels_, padded_h_, padded_w_, block_lines_;
};

}  // namespace warpline::kernels::cpu
