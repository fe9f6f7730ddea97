//! What a wall does with a molecule: mirror it, or take it in and let it go at the wall's temperature. Mirrors
// src/physics/wall.rs, which cites the sources. Knows nothing of triangles, grids or how the hit was found.
#pragma once
#include "sample.cuh"

// The law of a wall, ready for use: scene values with the molecule's mass worked in. 12 bytes.
struct WallLaw {
    // Fraction of the molecules that accommodate; the rest is mirrored.
    float accommodation;
    // sqrt(k T_wall / m), m/s.
    float thermal_speed;
    // 1 where the gas has two rotational degrees of freedom, which accommodate together with the translation.
    u32 rotational;
};

// Two unit vectors that make a right-handed frame with the unit vector `n` (Duff et al. 2017).
__device__ __forceinline__ void tangents(double3 n, double3& t1, double3& t2) {
    const double sign = copysign(1.0, n.z);
    const double a = -1.0 / (sign + n.z);
    const double b = n.x * n.y * a;
    t1 = make_double3(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    t2 = make_double3(b, sign + n.y * n.y * a, -n.y);
}

// Replaces velocity (m/s) and specific rotational energy (J/kg) by those after the hit; `normal` points into the gas.
// Products with the normal are f64 as in Rust: a molecule must not creep into the wall by rounding.
__device__ __noinline__ void reflect(const WallLaw& law, float3& velocity, float& rotation, double3 normal,
                                     Stream& rng) {
    if (law.accommodation < 1.0f && (law.accommodation <= 0.0f || rng.unit() >= law.accommodation)) {
        const double x = velocity.x, y = velocity.y, z = velocity.z;
        const double twice = 2.0 * (x * normal.x + y * normal.y + z * normal.z);
        velocity.x = (float)(x - twice * normal.x);
        velocity.y = (float)(y - twice * normal.y);
        velocity.z = (float)(z - twice * normal.z);
        return;
    }
    double3 t1, t2;
    tangents(normal, t1, t2);
    const float2 gauss = gauss_pair(rng);
    const double g1 = gauss.x, g2 = gauss.y;
    const double out = effusion(rng);
    const double scale = law.thermal_speed;
    velocity.x = (float)(scale * (out * normal.x + g1 * t1.x + g2 * t2.x));
    velocity.y = (float)(scale * (out * normal.y + g1 * t1.y + g2 * t2.y));
    velocity.z = (float)(scale * (out * normal.z + g1 * t1.z + g2 * t2.z));
    if (law.rotational != 0) rotation = -law.thermal_speed * law.thermal_speed * logf(rng.unit());
}
