// wall_law.cuh: what a wall does with a molecule, as src/physics/wall.rs.
#pragma once
#include "collide.cuh"
#include "sample.cuh"

struct WallLaw {
    float accommodation;  // share of the molecules that accommodate, the rest is mirrored (Maxwell 1879)
    float thermal_speed;  // sqrt(k T_wall / m), m/s
    u32 rotational;       // whether molecules have two rotational degrees of freedom
};

// Velocity and specific rotational energy after the hit; the normal points into the gas. Diffuse emission is the flux of a
// Maxwellian at the wall's temperature (Bird 1994, section 12.3).
static __device__ void reflect(
    const WallLaw& law, float velocity[3], float& rotation, const double normal[3], Stream& rng) {
    if (law.accommodation < 1.0f && (law.accommodation <= 0.0f || rng.unit() >= law.accommodation)) {
        const double twice = 2.0 *
            ((double)velocity[0] * normal[0] + (double)velocity[1] * normal[1] + (double)velocity[2] * normal[2]);
        for (int k = 0; k < 3; k++) velocity[k] = (float)((double)velocity[k] - twice * normal[k]);
        return;
    }
    double t1[3], t2[3];
    tangents(normal, t1, t2);
    const float2 g = gauss_pair(rng);
    const double out = (double)effusion(rng), scale = (double)law.thermal_speed;
    for (int k = 0; k < 3; k++)
        velocity[k] = (float)(scale * (out * normal[k] + (double)g.x * t1[k] + (double)g.y * t2[k]));
    if (law.rotational) rotation = -law.thermal_speed * law.thermal_speed * logf(rng.unit());
}
