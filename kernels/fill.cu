//! The initial particles: undisturbed gas in the gas part of every cell.
#include "gas.cuh"
#include "sample.cuh"
#include "plan.cu"

// Tries for a place in the gas part of a cell before a sliver of gas is left empty.
#define TRIES 10000

static __device__ __forceinline__ float gas_share(const Gas& gas, u32 cell) {
#ifdef WALLS
    return walls::gas_fraction(gas.walls, cell);
#else
    return 1.0f;
#endif
}

// Numbers of particles into `to.offset`, and their sums over each block: what plan_count does for a step.
extern "C" __global__ void __launch_bounds__(PLAN_THREADS) fill_count(PARAM(Gas) gas, PARAM(State) to, PARAM(Work) work) {
    SHARED u32 partial[32];
    const u32 cell = blockIdx.x * blockDim.x + threadIdx.x;
    u32 size = 0;
    if (cell < gas.cell_count) {
        Stream rng = stream_of(gas, 0, PURPOSE_FILL, cell);
        size = rng.round_to_whole((double)gas.fill_mean * (double)gas_share(gas, cell));
        ((u32*)to.offset)[cell] = size;
    }
    u32 total;
    block_scan(size, partial, total);
    if (threadIdx.x == 0) {
        ((u32*)work.block_sums)[2 * blockIdx.x] = total;
        ((u32*)work.block_sums)[2 * blockIdx.x + 1] = 0;
    }
}

// The particles themselves; a warp takes a cell. All of them are at home (direction 13).
extern "C" __global__ void __launch_bounds__(256) fill_cells(PARAM(Gas) gas, PARAM(State) to, PARAM(Work) work) {
    if (((const Control*)work.control)->stalled) return;
    const u32 lane = threadIdx.x & 31u, warps = gridDim.x * (blockDim.x >> 5);
    for (u32 cell = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); cell < gas.cell_count; cell += warps) {
        const u32 first = ((const u32*)to.offset)[cell], n = ((const u32*)to.offset)[cell + 1] - first;
        int at[3];
        unravel(gas, cell, at);
        u32 written = 0;
        for (u32 i0 = 0; i0 < n; i0 += 32) {
            const u32 i = i0 + lane;
            bool found = false;
            float velocity[3] = {0.0f, 0.0f, 0.0f};
#ifdef ROTATION
            float rotation = 0.0f;
#endif
            u32 x[3] = {0, 0, 0}, tag = 0;
            if (i < n) {
                Stream rng = stream_of(gas, 0, PURPOSE_FILL, cell, (i + 1u) << 14);
                for (int attempt = 0; attempt < TRIES && !found; attempt++) {
                    for (int a = 0; a < 3; a++) x[a] = rng.bits() >> (32 - PLACE_BITS);
#ifdef WALLS
                    i64 where[3];
                    for (int a = 0; a < 3; a++) where[a] = ((i64)at[a] << PLACE_BITS) + x[a];
                    found = walls::in_gas(gas.walls, where);
#else
                    found = true;
#endif
                }
                const float2 g = gauss_pair(rng), h = gauss_pair(rng);
                velocity[0] = gas.stream[0] + gas.thermal_speed * g.x;
                velocity[1] = gas.stream[1] + gas.thermal_speed * g.y;
                velocity[2] = gas.stream[2] + gas.thermal_speed * h.x;
#ifdef ROTATION
                rotation = -gas.thermal_speed * gas.thermal_speed * logf(rng.unit());
#endif
                tag = rng.bits() >> 8;
            }
            const u32 kept = __ballot_sync(FULL_MASK, found);
            if (found) {
                const u32 index = first + written + __popc(kept & ((1u << lane) - 1u));
                ((float4*)to.velocity)[index] =
                    make_float4(velocity[0], velocity[1], velocity[2], __uint_as_float(tag));
                ((uint2*)to.place)[index] = pack_place(x[0], x[1], x[2]);
#ifdef ROTATION
                ((float*)to.rotation)[index] = rotation;
#endif
            }
            written += __popc(kept);
        }
        if (lane < BINS) ((Bin*)to.ends)[(size_t)lane * gas.cell_count + cell] = (Bin)(lane < 13 ? 0u : written);
    }
}
