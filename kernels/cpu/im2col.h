// One image's patches as a matrix, so that a convolution is a matrix product (Chellapilla et al., High
// Performance Convolutional Neural Networks for Document Processing, 2006). Patches are taken from a padded
// copy of the image, so that no inner loop asks where the image ends.
#pragma once

#include "kernels/args.h"

namespace warpline::kernels::cpu {

// The patches of `channels` planes (the channels of a group). All buffers are the caller's, of at least the
// sizes given here.
class Patches {
 public:
  Patches(const Conv2dArgs& args, std::int64_t channels);

  std::int64_t rows() const { return channels_ * args_.kernel_h * args_.kernel_w; }  // cells of a patch
  std::int64_t columns() const { return args_.out_h * args_.out_w; }                 // patches of an image
  std::int64_t padded_size() const;  // floats of the padded copy
  std::int64_t matrix_size() const;  // floats of the matrix, either way round

  void pad(const float* x, float* padded) const;
  void to_columns(const float* padded, float* matrix) const;  // rows() x columns()
  void to_rows(const float* padded, float* matrix) const;     // columns() x rows()

  // The transpose of pad and to_columns: adds each cell to the pixel that it came from. dx is overwritten.
  void from_columns(const float* matrix, float* padded, float* dx) const;

 private:
  template <class Body>
  void each_padded_row(const Body& body) const;

  const Conv2dArgs& args_;
  std::int64_t channels_, padded_h_, padded_w_;
};

}  // namespace warpline::kernels::cpu
