//! The cross-section and the scattering of a pair, and the permutation that pairs a cell's particles. Mirrors
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
    (void)square;
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

// Pairs for Half-Split-Shuffle. A pass needs n/2 disjoint pairs, of which each lane makes its own without seeing the
// others'. They are one round of a round-robin tournament (the circle method: around a random centre x, of m = n or
// n - 1 places, whichever is odd, x + k meets x - k), with the players' numbers shuffled. Over the centres alone each
// of the n (n - 1) / 2 pairs comes equally often, to 2^-32, whatever the shuffle: so the rate of no pair is biased.
// The shuffle ("swap or not", Hoang, Morris & Rogaway 2012) only parts the pairs of one pass from each other: with six
// rounds two given pairs come together within a tenth (rms) of as often as they would in a perfect shuffle.
#define SHUFFLE_ROUNDS 6

// The key of one pass: the same for all lanes.
struct PermKey {
    u32 centre;
    u32 turn[SHUFFLE_ROUNDS];
    u32 factor[SHUFFLE_ROUNDS];
};

// A key from two random blocks, for n from 2 to 2^31.
__device__ __forceinline__ PermKey permutation_key(u32 n, uint4 first, uint4 second) {
    PermKey key;
    key.centre = __umulhi(first.x, (n - 1) | 1u);
    const u32 words[SHUFFLE_ROUNDS] = {first.y, first.z, first.w, second.x, second.y, second.z};
#pragma unroll
    for (int round = 0; round < SHUFFLE_ROUNDS; round++) {
        key.turn[round] = __umulhi(words[round], n);
        // The turn is made of the high bits: spread the low ones.
        key.factor[round] = words[round] * 0x9E3779B1u;
    }
    return key;
}

// The shuffle: a bijection of 0..n. In a round i and turn - i (modulo n) change places, or not.
__device__ __forceinline__ u32 shuffle_number(u32 i, u32 n, const PermKey& key) {
#pragma unroll
    for (int round = 0; round < SHUFFLE_ROUNDS; round++) {
        u32 other = key.turn[round] - i;
        other = min(other, other + n);
        const u32 coin = (max(i, other) + 1u) * key.factor[round];
        i = (int)coin < 0 ? other : i;
    }
    return i;
}

// Pair k of the pass, 0 <= k < n / 2: the numbers of two particles. About 90 instructions.
__device__ __forceinline__ void pair_of(u32 k, u32 n, const PermKey& key, u32& i, u32& j) {
    const u32 odd = n & 1u;
    const u32 places = n - 1u + odd;
    const u32 distance = k + odd;
    const u32 up = key.centre + distance;
    const u32 down = key.centre - distance;
    i = shuffle_number(min(up, up - places), n, key);
    // Of an even number the centre meets the one that has no place on the circle.
    const u32 opposite = distance == 0 ? places : min(down, down + places);
    j = shuffle_number(opposite, n, key);
}

// The same as a permutation of 0..n: k meets k + n / 2; of an odd n the last is left out.
__device__ __forceinline__ u32 permute(u32 i, u32 n, const PermKey& key) {
    const u32 half = n / 2;
    if (i >= 2 * half) return shuffle_number(key.centre, n, key);
    u32 first, second;
    pair_of(i < half ? i : i - half, n, key, first, second);
    return i < half ? first : second;
}
