// collide.cuh: the cross-section and the scattering of a pair, and the permutation of Half-Split-Shuffle.
// -D VHS_POWER: 1 if sigma c_r goes with the square root of c_r^2, 2 with its fourth root, 3 if it is constant, else 0.
// -D VSS: soft spheres.
#pragma once
#include "common.cuh"

struct PairModel {
    float coefficient;    // SI units
    float exponent;       // 1 - omega
    float inverse_alpha;  // 1 / alpha of the scattering law
    float first_share;    // m_2 / (m_1 + m_2)
};

// sigma c_r of a pair with this square of the relative speed, m^3/s (Bird 1994, eqs. 4.60 to 4.63).
static __device__ __forceinline__ float pair_rate(const PairModel& model, float square) {
#if VHS_POWER == 1
    return model.coefficient * sqrtf(square);
#elif VHS_POWER == 2
    return model.coefficient * sqrtf(sqrtf(square));
#elif VHS_POWER == 3
    return model.coefficient;
#else
    return model.coefficient * powf(square, model.exponent);
#endif
}

// Two unit vectors that make a right-handed frame with the unit vector n (Duff et al. 2017).
static __device__ __forceinline__ void tangents(const double n[3], double t1[3], double t2[3]) {
    const double sign = copysign(1.0, n[2]);
    const double a = -1.0 / (sign + n[2]);
    const double b = n[0] * n[1] * a;
    t1[0] = 1.0 + sign * n[0] * n[0] * a;
    t1[1] = sign * b;
    t1[2] = -sign * n[0];
    t2[0] = b;
    t2[1] = sign + n[1] * n[1] * a;
    t2[2] = -n[1];
}

// Elastic scattering in the centre-of-mass frame by two random words: isotropic (VHS), or by the VSS law
// cos(chi) = 2 u^(1/alpha) - 1 about the relative velocity (Bird 1994, eqs. 2.36 and 11.8).
static __device__ __forceinline__ void scatter(
    const PairModel& model, float square, float3& a, float3& b, u32 first, u32 second) {
    const float speed = sqrtf(square);
    float tx, ty, tz;
#ifdef VSS
    const double before[3] = {(double)a.x - b.x, (double)a.y - b.y, (double)a.z - b.z};
    const double length = sqrt(before[0] * before[0] + before[1] * before[1] + before[2] * before[2]);
    if (length > 0.0) {
        const double along[3] = {before[0] / length, before[1] / length, before[2] / length};
        double t1[3], t2[3], s, c;
        tangents(along, t1, t2);
        const double cosine = 2.0 * pow((double)unit_of(first), (double)model.inverse_alpha) - 1.0;
        const double sine = sqrt(1.0 - cosine * cosine);
        sincospi(2.0 * (((double)second + 0.5) * (1.0 / 4294967296.0)), &s, &c);
        tx = (float)(cosine * along[0] + sine * (c * t1[0] + s * t2[0]));
        ty = (float)(cosine * along[1] + sine * (c * t1[1] + s * t2[1]));
        tz = (float)(cosine * along[2] + sine * (c * t1[2] + s * t2[2]));
    } else
#endif
    {
        const float cosine = 2.0f * unit_of(first) - 1.0f;
        // In double: see `direction` in src/physics/sample.rs, an f32 root here takes energy out of every pair.
        const float sine = (float)sqrt(1.0 - (double)cosine * (double)cosine);
        float s, c;
        sincospif(2.0f * unit_of(second), &s, &c);
        tx = sine * c;
        ty = sine * s;
        tz = cosine;
    }
    const float of_a = model.first_share, of_b = 1.0f - model.first_share;
    const float mx = of_b * a.x + of_a * b.x, my = of_b * a.y + of_a * b.y, mz = of_b * a.z + of_a * b.z;
    const float rx = speed * tx, ry = speed * ty, rz = speed * tz;
    a = make_float3(mx + of_a * rx, my + of_a * ry, mz + of_a * rz);
    b = make_float3(mx - of_b * rx, my - of_b * ry, mz - of_b * rz);
}

// Keys of a pseudo-random permutation: four rounds of add, odd multiply and fold on the bits that n needs, walked until
// the result is below n. Every step can be undone, so that it is a permutation.
struct PermKey {
    u32 mask, shift;
    u32 add[4], multiply[4];
};

// Keys of a pass of Half-Split-Shuffle in a cell of n particles.
static __device__ __forceinline__ PermKey permutation_key(u64 seed, u64 step, u32 cell, u32 pass, u32 n) {
    PermKey key;
    const u32 bits = 32u - (u32)__clz((int)((n > 1u ? n : 2u) - 1u));
    key.mask = bits >= 32u ? 0xffffffffu : (1u << bits) - 1u;
    key.shift = (bits + 1u) / 2u;
    const u32 high = ((u32)(step >> 32) & 0xffffffu) | (PURPOSE_COLLIDE << 24);
    // Blocks from the top, which no pair reaches.
    const uint4 a = philox(0xffffffffu - 2u * pass, cell, (u32)step, high, (u32)seed, (u32)(seed >> 32));
    const uint4 b = philox(0xfffffffeu - 2u * pass, cell, (u32)step, high, (u32)seed, (u32)(seed >> 32));
    key.add[0] = a.x;
    key.add[1] = a.y;
    key.add[2] = a.z;
    key.add[3] = a.w;
    key.multiply[0] = b.x | 1u;
    key.multiply[1] = b.y | 1u;
    key.multiply[2] = b.z | 1u;
    key.multiply[3] = b.w | 1u;
    return key;
}

static __device__ __forceinline__ u32 permute(u32 i, u32 n, const PermKey& key) {
    u32 x = i;
    do {
#pragma unroll
        for (int round = 0; round < 4; round++) {
            x = (x + key.add[round]) * key.multiply[round] & key.mask;
            x ^= x >> key.shift;
        }
    } while (x >= n);
    return x;
}
