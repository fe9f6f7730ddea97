//! Random variates: Gaussian pairs, directions, effusing speeds, Poisson counts. Mirrors src/physics/sample.rs, which
// cites the sources. Speeds are in units of the most probable speed or of a standard deviation.
//
// The numbers agree with Rust's to rounding, not to the bit. Here the angle 2 pi u is reduced exactly (Rust rounds
// it to f32, an error of up to 2.4e-7 rad), and logf and expf are those of the compiler (at most 2 ulp).
#pragma once
#include "common.cuh"

// Sine and cosine of 2 pi u, u in [0, 1]: both within 6e-8 of the true values on the lattice of `unit_of`, with no
// trend in sin^2 + cos^2 - 1 (2e-11 on average over the lattice). Written out so that host and device give the same
// bits whatever the version of CUDA, and because there are no special cases to ask for.
__device__ __forceinline__ void sincos_turn(float u, float& sine, float& cosine) {
    const float quarters = rintf(4.0f * u);
    const int quadrant = (int)quarters;
    // In [-1/2, 1/2], exact; the angle from the nearest axis is pi/2 times this.
    const float t = 4.0f * u - quarters;
    const float square = t * t;
    // Least squares at Chebyshev nodes, each coefficient rounded before the next is fitted: within 5e-9 before the
    // results are rounded. The coefficient near 2^-25 completes pi/2, and is set so that the trend vanishes.
    float s = fmaf(-0x1.2da1bap-8f, square, 0x1.465eeap-4f);
    s = fmaf(s, square, -0x1.4abbbap-1f);
    s = fmaf(s, square, -0x1.aa9c16p-25f);
    s = fmaf(t, 0x1.921fb6p+0f, t * s);
    float c = fmaf(0x1.d61e28p-11f, square, -0x1.55b684p-6f);
    c = fmaf(c, square, 0x1.03c1b6p-2f);
    c = fmaf(c, square, -0x1.3bd3ccp+0f);
    c = fmaf(c, square, 1.0f);
    const bool swap = (quadrant & 1) != 0;
    const float first = swap ? c : s;
    const float second = swap ? s : c;
    sine = (quadrant & 2) != 0 ? -first : first;
    cosine = ((quadrant + 1) & 2) != 0 ? -second : second;
}

// sqrt(1 - cos^2) for |cos| <= 1 - 2^-23, correctly rounded on the lattice of 2 u - 1, u from `unit_of`.
// A plain f32 square root of the rounded 1 - cos^2 meets ties near the equator and always rounds them down, which
// took 4e-10 of the energy of a pair in each collision. Rust takes f64; here the rounding error of 1 - cos^2 and the
// residual of the root are carried, which costs six f32 operations.
__device__ __forceinline__ float sine_of(float cosine) {
    // Both exact on the lattice of 2^-23 that `unit_of` gives.
    const float below = 1.0f - cosine;
    const float above = 1.0f + cosine;
    const float high = below * above;
    const float low = fmaf(below, above, -high);
    const float inverse = rsqrtf(high);
    const float root = high * inverse;
    const float residual = fmaf(-root, root, high) + low;
    return fmaf(0.5f * inverse, residual, root);
}

// A direction from two random words, uniform on the unit sphere.
__device__ __forceinline__ float3 direction_of(u32 word1, u32 word2) {
    const float cosine = 2.0f * unit_of(word1) - 1.0f;
    const float sine = sine_of(cosine);
    float y, x;
    sincos_turn(unit_of(word2), y, x);
    return make_float3(sine * x, sine * y, cosine);
}

// A direction, uniform on the unit sphere.
__device__ __forceinline__ float3 direction(Stream& rng) {
    const u32 word1 = rng.bits();
    const u32 word2 = rng.bits();
    return direction_of(word1, word2);
}

// Two independent standard normal variates from two random words (Box & Muller 1958).
__device__ __forceinline__ float2 gauss_pair_of(u32 word1, u32 word2) {
    const float radius = sqrtf(-2.0f * logf(unit_of(word1)));
    float sine, cosine;
    sincos_turn(unit_of(word2), sine, cosine);
    return make_float2(radius * cosine, radius * sine);
}

// Two independent standard normal variates.
__device__ __forceinline__ float2 gauss_pair(Stream& rng) {
    const u32 word1 = rng.bits();
    const u32 word2 = rng.bits();
    return gauss_pair_of(word1, word2);
}

// Three independent standard normal variates; draws four words.
__device__ __forceinline__ float3 gauss_triple(Stream& rng) {
    const float2 first = gauss_pair(rng);
    const float2 second = gauss_pair(rng);
    return make_float3(first.x, first.y, second.x);
}

// Normal speed of a molecule that leaves a diffuse wall, in units of sqrt(kT/m): density v exp(-v^2/2).
__device__ __forceinline__ float effusion(Stream& rng) {
    return sqrtf(-2.0f * logf(rng.unit()));
}

// Normal speed of a molecule that enters through a face, in units of the most probable speed: density
// v exp(-(v - s)^2) for v > 0, `s` the speed ratio of the stream along the inward normal, of either sign.
// Exact for every `s` by three rejections, see sample.rs; at least 40 % of the proposals are accepted.
__device__ __noinline__ float inflow_speed(float s, Stream& rng) {
    if (s >= 0.0f) {
        const float gaussian_weight = s * 1.77245385f;
        for (;;) {
            const float magnitude_and_sign = rng.unit();
            const float radius = sqrtf(-logf(magnitude_and_sign));
            float w;
            if (rng.unit() * (1.0f + gaussian_weight) < gaussian_weight) {
                float sine, cosine;
                sincos_turn(rng.unit(), sine, cosine);
                w = radius * cosine;
            } else {
                w = (rng.bits() & 1u) == 0 ? radius : -radius;
            }
            if (w >= 0.0f || rng.unit() * (s - w) < s + w) return s + w;
        }
    } else if (s > -1.0f) {
        for (;;) {
            const float v = sqrtf(-logf(rng.unit()));
            if (rng.unit() < expf(2.0f * s * v)) return v;
        }
    } else {
        for (;;) {
            const float first = rng.unit();
            const float v = logf(first * rng.unit()) / (2.0f * s);
            if (rng.unit() < expf(-v * v)) return v;
        }
    }
}

// A Poisson variate, exact for any mean: sequential search, in parts of mean at most 32.
__device__ __noinline__ u32 poisson(double mean, Stream& rng) {
    u32 count = 0;
    double rest = mean;
    while (rest > 0.0) {
        const double part = fmin(rest, 32.0);
        rest -= part;
        double term = exp(-part);
        double below = term;
        const double u = rng.unit_f64();
        u32 k = 0;
        // Past 200 the terms of a mean of 32 are below the resolution of u.
        while (u > below && k < 200) {
            k += 1;
            term *= part / (double)k;
            below += term;
        }
        count += k;
    }
    return count;
}
