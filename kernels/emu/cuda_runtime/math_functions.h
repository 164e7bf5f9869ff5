// Mathematics of kernels: CUDA's intrinsics by the host's library. Where CUDA is free to be coarse, this is
// as exact as the host.
#pragma once

#include <cstdint>
#include <cstring>

#include <math.h>  // NOLINT(modernize-deprecated-headers): CUDA programs expect the names in the global namespace
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers)

// ---- min and max for all pairs of CUDA ----
#define WARPLINE_MIN_MAX(type)                                 \
  constexpr type min(type a, type b) { return b < a ? b : a; } \
  constexpr type max(type a, type b) { return a < b ? b : a; }
WARPLINE_MIN_MAX(int)
WARPLINE_MIN_MAX(unsigned)
WARPLINE_MIN_MAX(long)
WARPLINE_MIN_MAX(unsigned long)
WARPLINE_MIN_MAX(long long)
WARPLINE_MIN_MAX(unsigned long long)
#undef WARPLINE_MIN_MAX
#define WARPLINE_MIXED(narrow, wide)                                            \
  constexpr wide min(narrow a, wide b) { return min(static_cast<wide>(a), b); } \
  constexpr wide min(wide a, narrow b) { return min(a, static_cast<wide>(b)); } \
  constexpr wide max(narrow a, wide b) { return max(static_cast<wide>(a), b); } \
  constexpr wide max(wide a, narrow b) { return max(a, static_cast<wide>(b)); }
WARPLINE_MIXED(int, unsigned)
WARPLINE_MIXED(long, unsigned long)
WARPLINE_MIXED(long long, unsigned long long)
#undef WARPLINE_MIXED
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin(a, b); }
inline double min(double a, float b) { return fmin(a, b); }
inline double max(float a, double b) { return fmax(a, b); }
inline double max(double a, float b) { return fmax(a, b); }

// ---- functions that C does not have ----
inline float rsqrtf(float x) { return 1.0F / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return 1.0F / cbrtf(x); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline float sinpif(float x) { return static_cast<float>(sin(M_PI * fmod(x, 2.0))); }
inline double sinpi(double x) { return sin(M_PI * fmod(x, 2.0)); }
inline float cospif(float x) { return static_cast<float>(cos(M_PI * fmod(x, 2.0))); }
inline double cospi(double x) { return cos(M_PI * fmod(x, 2.0)); }
inline float normcdff(float x) { return 0.5F * erfcf(-x * static_cast<float>(M_SQRT1_2)); }
inline double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
inline float fdividef(float a, float b) { return a / b; }
inline float saturate(float x) { return fminf(fmaxf(x, 0.0F), 1.0F); }
inline float norm3df(float x, float y, float z) { return sqrtf(x * x + y * y + z * z); }
inline float rnorm3df(float x, float y, float z) { return 1.0F / norm3df(x, y, z); }
inline float rhypotf(float x, float y) { return 1.0F / hypotf(x, y); }

// ---- fast single precision ----
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return powf(10.0F, x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline void __sincosf(float x, float* sine, float* cosine) {
  *sine = sinf(x);
  *cosine = cosf(x);
}
inline float __powf(float x, float y) { return powf(x, y); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __saturatef(float x) { return saturate(x); }

// ---- arithmetic with a rounding: to nearest only ----
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float __frcp_rn(float x) { return 1.0F / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frsqrt_rn(float x) { return 1.0F / sqrtf(x); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline double __drcp_rn(double x) { return 1.0 / x; }
inline double __dsqrt_rn(double x) { return sqrt(x); }

// ---- integers ----
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555U) | (x & 0x55555555U) << 1;
  x = (x >> 2 & 0x33333333U) | (x & 0x33333333U) << 2;
  x = (x >> 4 & 0x0f0f0f0fU) | (x & 0x0f0f0f0fU) << 4;
  return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
inline int __mul24(int a, int b) {
  // The low 24 bits of each, with sign.
  const auto low = [](int x) { return static_cast<int>(static_cast<unsigned>(x) << 8) >> 8; };
  return static_cast<int>(static_cast<long long>(low(a)) * low(b));
}
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffU) * (b & 0xffffffU); }
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline unsigned __sad(int a, int b, unsigned c) {
  return static_cast<unsigned>(a > b ? static_cast<long long>(a) - b : static_cast<long long>(b) - a) + c;
}
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
inline int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both << (shift & 31U) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both >> (shift & 31U));
}
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(b) << 32 | a;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned choice = selector >> 4 * i & 0xfU;
    unsigned byte = static_cast<unsigned>(bytes >> 8 * (choice & 7U)) & 0xffU;
    if ((choice & 8U) != 0) byte = (byte & 0x80U) != 0 ? 0xffU : 0;  // the sign alone
    result |= byte << 8 * i;
  }
  return result;
}
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) c += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
  return c;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 32; i += 8) c += (a >> i & 0xffU) * (b >> i & 0xffU);
  return c;
}

// ---- bits of one type as another's, and conversions with a rounding ----
namespace warpline::cuda {

template <class To, class From>
To bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// Out of range: the nearest that there is; NaN: 0.
template <class To, class From>
To clamp_to(From rounded) {
  constexpr To kLeast = static_cast<To>(-1) < static_cast<To>(0)
                            ? static_cast<To>(static_cast<unsigned long long>(1) << (8 * sizeof(To) - 1))
                            : static_cast<To>(0);
  constexpr To kMost = static_cast<To>(~kLeast);
  if (rounded != rounded) return 0;
  if (rounded <= static_cast<From>(kLeast)) return kLeast;
  if (rounded >= static_cast<From>(kMost)) return kMost;
  return static_cast<To>(rounded);
}

}  // namespace warpline::cuda

inline int __float_as_int(float x) { return warpline::cuda::bits<int>(x); }
inline unsigned __float_as_uint(float x) { return warpline::cuda::bits<unsigned>(x); }
inline float __int_as_float(int x) { return warpline::cuda::bits<float>(x); }
inline float __uint_as_float(unsigned x) { return warpline::cuda::bits<float>(x); }
inline long long __double_as_longlong(double x) { return warpline::cuda::bits<long long>(x); }
inline double __longlong_as_double(long long x) { return warpline::cuda::bits<double>(x); }
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
inline double __hiloint2double(int high, int low) {
  return __longlong_as_double(static_cast<long long>(
      static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32 | static_cast<unsigned>(low)));
}

#define WARPLINE_CONVERT(from, function, to, type)                                                  \
  inline type function##2##to##_rn(from x) { return warpline::cuda::clamp_to<type>(nearbyint(x)); } \
  inline type function##2##to##_rz(from x) { return warpline::cuda::clamp_to<type>(trunc(x)); }     \
  inline type function##2##to##_ru(from x) { return warpline::cuda::clamp_to<type>(ceil(x)); }      \
  inline type function##2##to##_rd(from x) { return warpline::cuda::clamp_to<type>(floor(x)); }
WARPLINE_CONVERT(float, __float, int, int)
WARPLINE_CONVERT(float, __float, uint, unsigned)
WARPLINE_CONVERT(float, __float, ll, long long)
WARPLINE_CONVERT(float, __float, ull, unsigned long long)
WARPLINE_CONVERT(double, __double, int, int)
WARPLINE_CONVERT(double, __double, uint, unsigned)
WARPLINE_CONVERT(double, __double, ll, long long)
WARPLINE_CONVERT(double, __double, ull, unsigned long long)
#undef WARPLINE_CONVERT
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
