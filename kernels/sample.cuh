// sample.cuh: random variates, as src/physics/sample.rs draws them from the same words. Single-precision functions of
// CUDA are within 2 ulp; sincospif of twice the unit takes the place of the sine of 2 pi u.
#pragma once
#include "common.cuh"

// Two independent standard normal variates (Box & Muller 1958).
static __device__ __forceinline__ float2 gauss_pair(Stream& rng) {
    const float radius = sqrtf(-2.0f * logf(rng.unit()));
    float s, c;
    sincospif(2.0f * rng.unit(), &s, &c);
    return make_float2(radius * c, radius * s);
}

// Normal speed of a molecule that leaves a diffuse wall, in units of sqrt(kT/m).
static __device__ __forceinline__ float effusion(Stream& rng) { return sqrtf(-2.0f * logf(rng.unit())); }

// Normal speed of a molecule that enters through a face, in units of the most probable speed: density
// v exp(-(v - s)^2) for v > 0. Exact rejection for every s, see src/physics/sample.rs.
static __device__ float inflow_speed(float s, Stream& rng) {
    if (s >= 0.0f) {
        const float weight = s * 1.77245385090551603f;
        for (;;) {
            const float magnitude = rng.unit();
            float w;
            if (rng.unit() * (1.0f + weight) < weight) {
                const float radius = sqrtf(-logf(magnitude));
                w = radius * cospif(2.0f * rng.unit());
            } else {
                const float radius = sqrtf(-logf(magnitude));
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
            const float a = rng.unit();
            const float v = logf(a * rng.unit()) / (2.0f * s);
            if (rng.unit() < expf(-v * v)) return v;
        }
    }
}

// A Poisson variate, exact for any mean: sequential search, in parts of mean at most 32.
static __device__ u32 poisson(double mean, Stream& rng) {
    u32 count = 0;
    double rest = mean;
    while (rest > 0.0) {
        const double part = fmin(rest, 32.0);
        rest -= part;
        double term = exp(-part), below = term;
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
