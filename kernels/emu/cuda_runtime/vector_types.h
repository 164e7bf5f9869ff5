// CUDA's short vectors: plain structs, aligned as CUDA aligns them.
#pragma once

#include "kernels/emu/dim3.h"

using warpline::emu::dim3;
using warpline::emu::uint3;

#define WARPLINE_VECTOR(type, name, align2, align4)                              \
  struct name##1 {                                                               \
    type x;                                                                      \
  };                                                                             \
  struct alignas(align2) name##2 {                                               \
    type x, y;                                                                   \
  };                                                                             \
  struct alignas(align4) name##4 {                                               \
    type x, y, z, w;                                                             \
  };                                                                             \
  constexpr name##1 make_##name##1(type x) { return {x}; }                       \
  constexpr name##2 make_##name##2(type x, type y) { return {x, y}; }            \
  constexpr name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  constexpr name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
#define WARPLINE_VECTOR3(type, name) \
  struct name##3 {                   \
    type x, y, z;                    \
  };

WARPLINE_VECTOR3(signed char, char)
WARPLINE_VECTOR3(unsigned char, uchar)
WARPLINE_VECTOR3(short, short)
WARPLINE_VECTOR3(unsigned short, ushort)
WARPLINE_VECTOR3(int, int)
WARPLINE_VECTOR3(long, long)
WARPLINE_VECTOR3(unsigned long, ulong)
WARPLINE_VECTOR3(long long, longlong)
WARPLINE_VECTOR3(unsigned long long, ulonglong)
WARPLINE_VECTOR3(float, float)
WARPLINE_VECTOR3(double, double)

WARPLINE_VECTOR(signed char, char, 2, 4)
WARPLINE_VECTOR(unsigned char, uchar, 2, 4)
WARPLINE_VECTOR(short, short, 4, 8)
WARPLINE_VECTOR(unsigned short, ushort, 4, 8)
WARPLINE_VECTOR(int, int, 8, 16)
WARPLINE_VECTOR(unsigned, uint, 8, 16)
WARPLINE_VECTOR(long, long, 16, 16)
WARPLINE_VECTOR(unsigned long, ulong, 16, 16)
WARPLINE_VECTOR(long long, longlong, 16, 16)
WARPLINE_VECTOR(unsigned long long, ulonglong, 16, 16)
WARPLINE_VECTOR(float, float, 8, 16)
WARPLINE_VECTOR(double, double, 16, 16)

#undef WARPLINE_VECTOR
#undef WARPLINE_VECTOR3
