// common.cuh: types and random numbers, the same numbers as src/physics/rng.rs.
#pragma once

#ifndef CUDA_ON_HOST
#define SHARED(type, name, count) __shared__ type name[count]
// Offset of a field, as a constant; NVRTC has no offsetof, but the operator that its front end makes it of.
#define OFFSET_OF(type, field) __INTADDR__(&(((type*)0)->field))
// A struct as a parameter of a kernel, whose address may be taken without a copy of it for every thread.
#define PARAM(type) const __grid_constant__ type
#define DYNAMIC_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
#endif

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define FULL_MASK 0xffffffffu

// What a random number is drawn for; keeps the streams of one step apart.
#define PURPOSE_FILL 1u
#define PURPOSE_COLLIDE 2u
#define PURPOSE_WALL 3u
#define PURPOSE_INFLOW 4u
#define PURPOSE_TEST 5u

// One block of Philox4x32-10 (Salmon, Moraes, Dror & Shaw 2011): four words from a counter and a key.
static __device__ __forceinline__ uint4 philox(u32 c0, u32 c1, u32 c2, u32 c3, u32 k0, u32 k1) {
#pragma unroll
    for (int round = 0; round < 10; round++) {
        const u32 h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
        const u32 h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
        c0 = h1 ^ c1 ^ k0;
        c1 = l1;
        c2 = h0 ^ c3 ^ k1;
        c3 = l0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return make_uint4(c0, c1, c2, c3);
}

// Uniform in (0, 1) on a lattice of 2^-23: never 0, never 1, mean exactly 1/2.
static __device__ __forceinline__ float unit_of(u32 word) { return ((float)(word >> 9) + 0.5f) * (1.0f / 8388608.0f); }

// The random numbers of one (seed, step, purpose, index).
struct Stream {
    u32 key0, key1, c0, c1, c2, c3;
    uint4 block;
    u32 used;

    __device__ __forceinline__ u32 bits() {
        if (used == 4) {
            block = philox(c0, c1, c2, c3, key0, key1);
            c0 += 1;
            used = 0;
        }
        const u32 word = used == 0 ? block.x : used == 1 ? block.y : used == 2 ? block.z : block.w;
        used += 1;
        return word;
    }
    __device__ __forceinline__ float unit() { return unit_of(bits()); }
    __device__ __forceinline__ double unit_f64() { return ((double)bits() + 0.5) * (1.0 / 4294967296.0); }
    __device__ __forceinline__ u32 below(u32 n) { return __umulhi(bits(), n); }
    // x rounded to a whole number so that its mean is x.
    __device__ __forceinline__ u32 round_to_whole(double x) {
        const double whole = floor(x);
        return (u32)whole + (unit_f64() < x - whole ? 1u : 0u);
    }
};

static __device__ __forceinline__ Stream stream_new(u64 seed, u64 step, u32 purpose, u32 index) {
    Stream rng;
    rng.key0 = (u32)seed;
    rng.key1 = (u32)(seed >> 32);
    rng.c0 = 0;
    rng.c1 = index;
    rng.c2 = (u32)step;
    rng.c3 = ((u32)(step >> 32) & 0xffffffu) | (purpose << 24);
    rng.block = make_uint4(0, 0, 0, 0);
    rng.used = 4;
    return rng;
}

// Goes on with a block of the stream: threads that share one take blocks far apart.
static __device__ __forceinline__ void stream_skip_to(Stream& rng, u32 block) {
    rng.c0 = block;
    rng.used = 4;
}
