// The cross-section and the scattering of a pair, and the permutation that pairs a cell's particles. Mirrors
// src/physics/collide, which cites the sources. Knows nothing of cells or schemes.
//
// Constants of the scene, given by -D:
// VHS_POWER: how sigma c_r follows from c_r^2: 0 the power `exponent`, 1 its root, 2 its fourth root, 3 constant.
// VSS: 1 where alpha of the scattering law is not 1.
#pragma once
#include "wall_law.cuh"

#ifndef VHS_POWER
#define VHS_POWER 0
#endif
#ifndef VSS
#define VSS 0
#endif

// sigma c_r = coefficient (c_r^2)^exponent of a pair of species; SI units, fields as in `PairModel` of pair.rs.
struct PairModel {
    float coefficient;
    float exponent;
    float inverse_alpha;
    float first_share;
};

// Square of the relative speed of a pair, m^2/s^2.
__device__ __forceinline__ float relative_speed_squared(float3 a, float3 b) {
    const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return x * x + y * y + z * z;
}

// sigma c_r of a pair with this square of the relative speed, m^3/s. The general power is taken through base-two
// logarithms: within 1e-6 of the true rate for exponents to 1/2 and squares from 1e-6 to 1e12 m^2/s^2, at a tenth of
// the cost of powf. Against the statistical error of a run, 1e-6 of the collision rate is nothing.
__device__ __forceinline__ float pair_rate(const PairModel& model, float square) {
#if VHS_POWER == 1
    const float power = sqrtf(square);
#elif VHS_POWER == 2
    const float power = sqrtf(sqrtf(square));
#elif VHS_POWER == 3
    const float power = 1.0f;
#else
    const float power = exp2f(model.exponent * __log2f(square));
#endif
    return model.coefficient * power;
}

#if VSS
// Direction of the relative velocity after a soft-sphere collision: cos(chi) = 2 u^(1/alpha) - 1 about `a - b`.
// The frame is f64, so that its length has no trend.
__device__ __forceinline__ float3 deflect(const PairModel& model, float3 a, float3 b, u32 word1, u32 word2) {
    const double x = (double)a.x - b.x, y = (double)a.y - b.y, z = (double)a.z - b.z;
    const double speed = sqrt(x * x + y * y + z * z);
    if (!(speed > 0.0)) return direction_of(word1, word2);
    const double3 along = make_double3(x / speed, y / speed, z / speed);
    double3 t1, t2;
    tangents(along, t1, t2);
    const double cosine = 2.0 * (double)powf(unit_of(word1), model.inverse_alpha) - 1.0;
    const double sine = sqrt(1.0 - cosine * cosine);
    float sine_azimuth, cosine_azimuth;
    sincos_turn(unit_of(word2), sine_azimuth, cosine_azimuth);
    const double p = sine * cosine_azimuth, q = sine * sine_azimuth;
    return make_float3((float)(cosine * along.x + p * t1.x + q * t2.x),
                       (float)(cosine * along.y + p * t1.y + q * t2.y),
                       (float)(cosine * along.z + p * t1.z + q * t2.z));
}
#endif

// Elastic scattering in the centre-of-mass frame, from two random words: isotropic (VHS), or by the VSS law.
// `square` is the square of the relative speed.
__device__ __forceinline__ void scatter(const PairModel& model, float square, float3& a, float3& b, u32 word1,
                                        u32 word2) {
    const float speed = sqrtf(square);
#if VSS
    const float3 towards = deflect(model, a, b, word1, word2);
#else
    const float3 towards = direction_of(word1, word2);
#endif
    // The centre of mass moves with the mean weighted by mass: each carries the other's share.
    const float share_a = model.first_share, share_b = 1.0f - share_a;
    const float mean_x = share_b * a.x + share_a * b.x;
    const float mean_y = share_b * a.y + share_a * b.y;
    const float mean_z = share_b * a.z + share_a * b.z;
    const float x = speed * towards.x, y = speed * towards.y, z = speed * towards.z;
    a = make_float3(mean_x + share_a * x, mean_y + share_a * y, mean_z + share_a * z);
    b = make_float3(mean_x - share_b * x, mean_y - share_b * y, mean_z - share_b * z);
}

// The key of a random permutation of 0..n: the same for all lanes and the whole pass.
struct PermKey {
    // Largest power of two that is not above n, less one; half its bits.
    u32 mask, shift;
    // One for each round.
    u32 add0, add1, add2, add3;
    u32 odd0, odd1, odd2, odd3;
};

// A key from four random words; n from 1 to 2^16.
__device__ __forceinline__ PermKey permutation_key(u32 n, uint4 words) {
    PermKey key;
    const u32 bits = 31 - __clz((int)n);
    key.mask = (1u << bits) - 1u;
    key.shift = (bits + 1) / 2;
    // High bits of a word turn, low bits multiply.
    key.add0 = __umulhi(words.x, n);
    key.add1 = __umulhi(words.y, n);
    key.add2 = __umulhi(words.z, n);
    key.add3 = __umulhi(words.w, n);
    key.odd0 = words.x | 1u;
    key.odd1 = words.y | 1u;
    key.odd2 = words.z | 1u;
    key.odd3 = words.w | 1u;
    return key;
}

// One round: turn all n by a random amount, then mix the first 2^bits among themselves. Each part is a bijection.
__device__ __forceinline__ u32 permutation_round(u32 i, u32 n, u32 mask, u32 shift, u32 add, u32 odd) {
    i += add;
    i = min(i, i - n);
    const u32 mixed = ((i ^ (i >> shift)) * odd) & mask;
    return i <= mask ? mixed : i;
}

// Where the permutation sends i, 0 <= i < n. No lane waits for another: about 40 instructions, without the
// walk along a cycle that a mix of all ceil(log2 n) bits would need.
__device__ __forceinline__ u32 permute(u32 i, u32 n, const PermKey& key) {
    i = permutation_round(i, n, key.mask, key.shift, key.add0, key.odd0);
    i = permutation_round(i, n, key.mask, key.shift, key.add1, key.odd1);
    i = permutation_round(i, n, key.mask, key.shift, key.add2, key.odd2);
    i = permutation_round(i, n, key.mask, key.shift, key.add3, key.odd3);
    return i;
}
