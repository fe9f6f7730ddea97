//! What every kernel shares: short types, Philox, the streams of random numbers.
// Knows nothing of gases. Mirrors src/physics/rng.rs word for word; tests/cuda_functions.rs holds the two together.
// Compile without --use_fast_math: it would replace logf and sqrtf below by versions with a bias.
#pragma once

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define FULL_MASK 0xFFFFFFFFu

// Shared memory. The shim that runs kernels on the host (tests/cuda_host) defines these itself.
#ifndef SHARED
#define SHARED __shared__
// Declares `name`, the block's dynamic shared memory: unsigned char*, aligned to 16 bytes.
#define DYNAMIC_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
// A struct as a parameter of a kernel, whose address may be taken without a copy of it for every thread.
#define PARAM(type) const __grid_constant__ type
// Offset of a field, as a constant; NVRTC has no offsetof, but the operator that its front end makes it of.
#define OFFSET_OF(type, field) __INTADDR__(&(((type*)0)->field))
#endif

// One block of Philox4x32-10 (Salmon, Moraes, Dror & Shaw 2011): four words from a counter and a key.
__device__ __forceinline__ uint4 philox(u32 c0, u32 c1, u32 c2, u32 c3, u32 k0, u32 k1) {
#pragma unroll
    for (int round = 0; round < 10; round++) {
        const u32 low0 = 0xD2511F53u * c0;
        const u32 high0 = __umulhi(0xD2511F53u, c0);
        const u32 low1 = 0xCD9E8D57u * c2;
        const u32 high1 = __umulhi(0xCD9E8D57u, c2);
        c0 = high1 ^ c1 ^ k0;
        c1 = low1;
        c2 = high0 ^ c3 ^ k1;
        c3 = low0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return make_uint4(c0, c1, c2, c3);
}

// What a random number is drawn for; keeps the streams of one step apart. Numbers as in `Purpose` of rng.rs.
enum Purpose : u32 {
    PURPOSE_FILL = 1,
    PURPOSE_COLLIDE = 2,
    PURPOSE_WALL = 3,
    PURPOSE_INFLOW = 4,
    PURPOSE_TEST = 5,
};

// A word as a uniform number in the open interval (0, 1), on a lattice of 2^-23; exact.
__device__ __forceinline__ float unit_of(u32 word) {
    return ((float)(word >> 9) + 0.5f) * (1.0f / 8388608.0f);
}

// A word as a uniform number in the open interval (0, 1), on a lattice of 2^-32; exact.
__device__ __forceinline__ double unit_f64_of(u32 word) {
    return ((double)word + 0.5) * (1.0 / 4294967296.0);
}

// A word as a uniform number among 0..n; biased by at most n / 2^32.
__device__ __forceinline__ u32 below_of(u32 word, u32 n) {
    return __umulhi(word, n);
}

// Block `block` of the four words of (seed, step, purpose, index), without a Stream. `step` may use 56 bits.
__device__ __forceinline__ uint4 random_block(u64 seed, u64 step, u32 purpose, u32 index, u32 block) {
    const u32 step_and_purpose = ((u32)(step >> 32) & 0x00FFFFFFu) | (purpose << 24);
    return philox(block, index, (u32)step, step_and_purpose, (u32)seed, (u32)(seed >> 32));
}

// The random numbers of one (seed, step, purpose, index): a cell, a particle, a row of a face.
// The words not yet drawn are moved down as they are used: no indexed array, which would lie in local memory.
struct Stream {
    u32 key0, key1;
    u32 c0, c1, c2, c3;
    u32 word0, word1, word2, word3;
    u32 used;

    // 32 random bits.
    __device__ __forceinline__ u32 bits() {
        if (used == 4) {
            const uint4 block = philox(c0, c1, c2, c3, key0, key1);
            word0 = block.x;
            word1 = block.y;
            word2 = block.z;
            word3 = block.w;
            c0 += 1;
            used = 0;
        }
        const u32 word = word0;
        word0 = word1;
        word1 = word2;
        word2 = word3;
        used += 1;
        return word;
    }

    __device__ __forceinline__ float unit() { return unit_of(bits()); }

    __device__ __forceinline__ double unit_f64() { return unit_f64_of(bits()); }

    // Uniform among 0..n; biased by at most n / 2^32.
    __device__ __forceinline__ u32 below(u32 n) { return below_of(bits(), n); }

    // `x`, in 0..2^32, rounded to a whole number so that its mean is `x`.
    __device__ __forceinline__ u32 round_to_whole(double x) {
        const double whole = floor(x);
        return (u32)whole + (unit_f64() < x - whole ? 1u : 0u);
    }
};

// Starts a stream at its block `first_block`: 0 as in Rust, or beyond the blocks that were drawn with `random_block`.
__device__ __forceinline__ Stream stream_new(u64 seed, u64 step, u32 purpose, u32 index, u32 first_block = 0) {
    Stream stream;
    stream.key0 = (u32)seed;
    stream.key1 = (u32)(seed >> 32);
    stream.c0 = first_block;
    stream.c1 = index;
    stream.c2 = (u32)step;
    stream.c3 = ((u32)(step >> 32) & 0x00FFFFFFu) | (purpose << 24);
    stream.word0 = stream.word1 = stream.word2 = stream.word3 = 0;
    stream.used = 4;
    return stream;
}
