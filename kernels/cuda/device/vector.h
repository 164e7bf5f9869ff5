// 16 bytes of scalars, which a GPU loads and stores in one access. The address must be a multiple of 16.
#pragma once

#include "kernels/cuda/target.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {

template <class T>
struct alignas(16) Vector {
  static constexpr int kWidth = 16 / sizeof(T);
  T values[kWidth];

#ifndef __CUDACC__
  // A host compiler may copy a struct member by member; this copies it in one access too.
  using Whole [[gnu::vector_size(16), gnu::may_alias]] = long long;
  Vector() = default;
  Vector(const Vector& other) { whole() = other.whole(); }
  Vector& operator=(const Vector& other) {
    whole() = other.whole();
    return *this;
  }

 private:
  Whole& whole() { return reinterpret_cast<Whole&>(*this); }
  const Whole& whole() const { return reinterpret_cast<const Whole&>(*this); }
#endif
};

template <class T>
__device__ Vector<T> load_vector(const T* from) {
  return *reinterpret_cast<const Vector<T>*>(from);
}
template <class T>
__device__ void store_vector(T* to, const Vector<T>& vector) {
  *reinterpret_cast<Vector<T>*>(to) = vector;
}

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
