// What kernels/walls.cuh needs of CUDA, in plain C++, for one thread without any launch.
// Compile with -ffp-contract=off: each operation rounds once, as the intrinsics do.
#pragma once
#include <cmath>
#include <cstdint>

#define __device__
#define __forceinline__ inline
// Empty: libstdc++ writes __attribute__((__noinline__)) itself.
#define __noinline__

static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
static inline long long __double2ll_rn(double a) { return std::llrint(a); }
using std::fabs;
using std::fmax;
using std::fmin;
