// CUDA's arithmetic intrinsics on the host: bit tricks, casts, conversions, rounded arithmetic, cached loads.
// Part of cuda_on_host.h. Approximate intrinsics (__logf, __sinf ...) are the accurate functions here: their error
// on a GPU must be bounded where they are used. Some names are macros because C libraries have those names too.
#pragma once

static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((uint64_t)a * b) >> 32); }
static inline int __mulhi(int a, int b) { return (int)(((int64_t)a * b) >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
static inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
static inline unsigned __brev(unsigned x) {
    unsigned result = 0;
    for (int bit = 0; bit < 32; bit++) result |= (x >> bit & 1u) << (31 - bit);
    return result;
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)((((uint64_t)high << 32 | low) << (shift & 31)) >> 32);
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((uint64_t)high << 32 | low) >> (shift & 31));
}

static inline float __uint_as_float(unsigned x) { return shim::bits_as<float>(x); }
static inline float __int_as_float(int x) { return shim::bits_as<float>(x); }
static inline unsigned __float_as_uint(float x) { return shim::bits_as<unsigned>(x); }
static inline int __float_as_int(float x) { return shim::bits_as<int>(x); }
static inline long long __double_as_longlong(double x) { return shim::bits_as<long long>(x); }
static inline double __longlong_as_double(long long x) { return shim::bits_as<double>(x); }

// To whole numbers: rn to the nearest (ties to even), rd down, ru up, rz towards zero.
#define SHIM_ROUNDED(suffix, function)                                                                   \
    static inline int __float2int_##suffix(float x) { return shim::to_int(function((double)x)); }        \
    static inline unsigned __float2uint_##suffix(float x) { return shim::to_uint(function((double)x)); } \
    static inline long long __float2ll_##suffix(float x) { return shim::to_ll(function((double)x)); }    \
    static inline unsigned long long __float2ull_##suffix(float x) {                                     \
        return shim::to_ull(function((double)x));                                                        \
    }                                                                                                    \
    static inline int __double2int_##suffix(double x) { return shim::to_int(function(x)); }              \
    static inline unsigned __double2uint_##suffix(double x) { return shim::to_uint(function(x)); }       \
    static inline long long __double2ll_##suffix(double x) { return shim::to_ll(function(x)); }          \
    static inline unsigned long long __double2ull_##suffix(double x) { return shim::to_ull(function(x)); }
SHIM_ROUNDED(rn, rint)
SHIM_ROUNDED(rd, floor)
SHIM_ROUNDED(ru, ceil)
SHIM_ROUNDED(rz, trunc)
#undef SHIM_ROUNDED
static inline float __int2float_rn(int x) { return (float)x; }
static inline float __uint2float_rn(unsigned x) { return (float)x; }
static inline float __ll2float_rn(long long x) { return (float)x; }
static inline float __ull2float_rn(unsigned long long x) { return (float)x; }
static inline double __int2double_rn(int x) { return x; }
static inline double __uint2double_rn(unsigned x) { return x; }
static inline double __ll2double_rn(long long x) { return (double)x; }
static inline double __ull2double_rn(unsigned long long x) { return (double)x; }
static inline float __double2float_rn(double x) { return (float)x; }

// Never contracted to a fused multiply-add (compile with -ffp-contract=off), or always.
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __frcp_rn(float a) { return 1.0f / a; }
static inline float __fsqrt_rn(float a) { return sqrtf(a); }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __drcp_rn(double a) { return 1.0 / a; }
static inline double __dsqrt_rn(double a) { return sqrt(a); }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

namespace shim {
static inline float inverse_root(float x) { return (float)(1.0 / sqrt((double)x)); }
static inline double inverse_root(double x) { return 1.0 / sqrt(x); }
// sin and cos of pi x.
static inline void sincos_pi(float x, float* sine, float* cosine) {
    const double pi = 3.14159265358979323846;
    const double turned = fmod((double)x, 2.0);
    *sine = (float)sin(pi * turned);
    *cosine = (float)cos(pi * turned);
}
static inline void sincos_of(float x, float* sine, float* cosine) {
    *sine = sinf(x);
    *cosine = cosf(x);
}
}  // namespace shim
#define rsqrtf(x) shim::inverse_root((float)(x))
#define rsqrt(x) shim::inverse_root((double)(x))
#define sincospif(x, sine, cosine) shim::sincos_pi(x, sine, cosine)
#define __sincosf(x, sine, cosine) shim::sincos_of(x, sine, cosine)
#define __fdividef(a, b) ((float)(a) / (float)(b))
#define __frsqrt_rn(x) shim::inverse_root((float)(x))
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __expf(x) expf(x)
#define __powf(x, y) powf(x, y)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
static inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

#define SHIM_MIN_MAX(type, a_type, b_type)                                                                     \
    static inline type min(a_type a, b_type b) { return (type)b < (type)a ? (type)b : (type)a; }               \
    static inline type max(a_type a, b_type b) { return (type)a < (type)b ? (type)b : (type)a; }
SHIM_MIN_MAX(int, int, int)
SHIM_MIN_MAX(unsigned, unsigned, unsigned)
SHIM_MIN_MAX(unsigned, int, unsigned)
SHIM_MIN_MAX(unsigned, unsigned, int)
SHIM_MIN_MAX(long long, long long, long long)
SHIM_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
#undef SHIM_MIN_MAX
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }

// Loads and stores with a hint for the caches.
template <class T> static inline T __ldg(const T* address) { return *address; }
template <class T> static inline T __ldcg(const T* address) { return *address; }
template <class T> static inline T __ldcs(const T* address) { return *address; }
template <class T> static inline T __ldlu(const T* address) { return *address; }
template <class T> static inline T __ldca(const T* address) { return *address; }
template <class T> static inline void __stcg(T* address, T value) { *address = value; }
template <class T> static inline void __stcs(T* address, T value) { *address = value; }
template <class T> static inline void __stwb(T* address, T value) { *address = value; }
template <class T> static inline void __stwt(T* address, T value) { *address = value; }
