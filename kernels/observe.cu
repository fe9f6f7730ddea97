//! What the host looks at between steps: drawn particles, sums of the cells, the members of one cell.
//! Between steps a particle lies in the region of the cell that it came from; the other state's `place` is free, and holds
//! the cells of far flights.
#include "gas.cuh"

// Index of the cell to which a particle of a bin of a cell belongs.
static __device__ __forceinline__ u32 home_of(const Gas& gas, const State& spare, u32 cell, u32 bin, u32 index) {
    if (bin == FAR) return ((const uint2*)spare.place)[index].x;
    int at[3];
    unravel(gas, cell, at);
    const int step[3] = {(int)bin % 3 - 1, (int)bin / 3 % 3 - 1, (int)bin / 9 - 1};
    for (int a = 0; a < 3; a++) {
        at[a] += step[a];
        if (at[a] < 0) at[a] += (int)gas.cells[a];
        else if (at[a] >= (int)gas.cells[a]) at[a] -= (int)gas.cells[a];
    }
    return index_of(gas, at[0], at[1], at[2]);
}

// Bin of the i-th particle of a region whose ends lie in `ends` (one a lane, in shared memory).
static __device__ __forceinline__ u32 bin_of(const u32* ends, u32 i) {
    u32 bin = 0;
#pragma unroll
    for (u32 width = 16; width; width >>= 1)
        if (ends[bin + width - 1] <= i) bin += width;
    return bin;
}

// Writes the cells of far flights where the other functions look for them.
extern "C" __global__ void __launch_bounds__(256) mark_far(PARAM(Work) work, PARAM(State) spare) {
    const u32 total = ((const Control*)work.control)->far_total[work.parity];
    const FarRecord* records = (const FarRecord*)work.far_records;
    for (u32 k = blockIdx.x * blockDim.x + threadIdx.x; k < total; k += gridDim.x * blockDim.x)
        ((uint2*)spare.place)[records[k].index] = make_uint2(records[k].cell, 0u);
}

// How many particles of each region are drawn, into `counts`.
extern "C" __global__ void __launch_bounds__(256) draw_count(PARAM(Gas) gas, PARAM(State) state, u64 counts, u32 below) {
    const u32 lane = threadIdx.x & 31u, warps = gridDim.x * (blockDim.x >> 5);
    for (u32 cell = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); cell < gas.cell_count; cell += warps) {
        const u32 first = ((const u32*)state.offset)[cell];
        const u32 n = (u32)((const Bin*)state.ends)[(size_t)FAR * gas.cell_count + cell];
        u32 drawn = 0;
        for (u32 i0 = 0; i0 < n; i0 += 32) {
            const u32 i = i0 + lane;
            const bool chosen =
                i < n && (__float_as_uint(((const float4*)state.velocity)[first + i].w) & 0xffffffu) < below;
            drawn += __popc(__ballot_sync(FULL_MASK, chosen));
        }
        if (lane == 0) ((u32*)counts)[cell] = drawn;
    }
}

// Exclusive sums of the counts, by one block, and their total at the end.
extern "C" __global__ void __launch_bounds__(1024) draw_scan(u32 cell_count, u64 counts) {
    SHARED u32 partial[32];
    u32* values = (u32*)counts;
    u32 base = 0;
    for (u32 first = 0; first < cell_count; first += blockDim.x) {
        const u32 cell = first + threadIdx.x;
        u32 total;
        const u32 before = block_scan(cell < cell_count ? values[cell] : 0u, partial, total);
        if (cell < cell_count) values[cell] = base + before;
        base += total;
    }
    if (threadIdx.x == 0) values[cell_count] = base;
}

// Packs the drawn particles, float4 {x, y, z in m in the scene's axes, what it is painted by}, in the order of regions.
extern "C" __global__ void __launch_bounds__(256) draw_pack(
    PARAM(Gas) gas, PARAM(State) state, PARAM(State) spare, u64 places, u64 out, u32 most, u32 below, u32 paint, double cx, double cy, double cz) {
    SHARED u32 all_ends[32 * 8];
    const u32 lane = threadIdx.x & 31u, warps = gridDim.x * (blockDim.x >> 5);
    u32* ends = all_ends + 32 * (threadIdx.x >> 5);
    for (u32 cell = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); cell < gas.cell_count; cell += warps) {
        const u32 first = ((const u32*)state.offset)[cell];
        __syncwarp();
        ends[lane] = (u32)((const Bin*)state.ends)[(size_t)(lane < BINS ? lane : FAR) * gas.cell_count + cell];
        __syncwarp();
        const u32 n = ends[31];
        u32 slot = ((const u32*)places)[cell];
        for (u32 i0 = 0; i0 < n; i0 += 32) {
            const u32 i = i0 + lane;
            float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (i < n) v = ((const float4*)state.velocity)[first + i];
            const u32 tag = __float_as_uint(v.w);
            const bool chosen = i < n && (tag & 0xffffffu) < below;
            const u32 lanes = __ballot_sync(FULL_MASK, chosen);
            const u32 mine = slot + __popc(lanes & ((1u << lane) - 1u));
            if (chosen && mine < most) {
                const uint2 place = ((const uint2*)state.place)[first + i];
                u32 x[3];
                unpack_place(place.x, place.y, x[0], x[1], x[2]);
                int at[3];
                unravel(gas, home_of(gas, spare, cell, bin_of(ends, i), first + i), at);
                const double p[3] = {(double)(((i64)at[0] << PLACE_BITS) + x[0]) * gas.step[0] + cx,
                    (double)(((i64)at[1] << PLACE_BITS) + x[1]) * gas.step[1] + cy,
                    (double)(((i64)at[2] << PLACE_BITS) + x[2]) * gas.step[2] + cz};
                float value;
                if (paint == 0) value = sqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
                else if (paint == 1) value = v.x;
                else if (paint == 2) value = v.y;
                else if (paint == 3) value = v.z;
                else if (paint == 4) value = (float)(tag >> 27);
                else value = (float)((tag >> 24) & 7u);
                ((float4*)out)[mine] = make_float4((float)p[0], (float)p[1], (float)p[2], value);
            }
            slot += __popc(lanes);
        }
    }
}

// Sums of the particles of each cell now, in fixed point so that their order does not matter: i64[7] a cell, zero before.
// Bins of a region in turn, each summed by the warp and added to its cell once.
extern "C" __global__ void __launch_bounds__(256) sum_cells(
    PARAM(Gas) gas, PARAM(State) state, PARAM(State) spare, u64 sums, double velocity_scale, double square_scale) {
    const u32 lane = threadIdx.x & 31u, warps = gridDim.x * (blockDim.x >> 5);
    for (u32 cell = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); cell < gas.cell_count; cell += warps) {
        const u32 first = ((const u32*)state.offset)[cell];
        for (u32 bin = 0; bin <= FAR; bin++) {
            const u32 start = bin_start((const Bin*)state.ends, gas.cell_count, cell, (int)bin);
            const u32 end = (u32)((const Bin*)state.ends)[(size_t)bin * gas.cell_count + cell];
            i64 sum[7] = {0, 0, 0, 0, 0, 0, 0};
            for (u32 i = start + lane; i < end; i += 32) {
                const float4 particle = ((const float4*)state.velocity)[first + i];
                const float v[3] = {particle.x - gas.stream[0], particle.y - gas.stream[1], particle.z - gas.stream[2]};
                i64 one[7];
                one[0] = 1;
                for (int a = 0; a < 3; a++) {
                    one[1 + a] = __double2ll_rn((double)v[a] * velocity_scale);
                    one[4 + a] = __double2ll_rn((double)v[a] * (double)v[a] * square_scale);
                }
                if (bin == FAR) {
                    i64* to = (i64*)sums + 7 * (size_t)home_of(gas, spare, cell, bin, first + i);
                    for (int k = 0; k < 7; k++) atomicAdd((u64*)to + k, (u64)one[k]);
                } else {
                    for (int k = 0; k < 7; k++) sum[k] += one[k];
                }
            }
            if (bin == FAR || start == end) continue;
            i64* to = (i64*)sums + 7 * (size_t)home_of(gas, spare, cell, bin, 0);
            for (int k = 0; k < 7; k++) {
                for (int d = 16; d; d >>= 1) sum[k] += __shfl_xor_sync(FULL_MASK, sum[k], d);
                if (lane == 0) atomicAdd((u64*)to + k, (u64)sum[k]);
            }
        }
    }
}

// Indices of the particles of one cell, in any order; `out` begins with their number. One block.
extern "C" __global__ void __launch_bounds__(256) members_of(PARAM(Gas) gas, PARAM(State) state, PARAM(Work) work, u32 cell, u64 out, u32 most) {
    u32* list = (u32*)out;
    if (threadIdx.x == 0) list[0] = 0;
    __syncthreads();
    int at[3];
    unravel(gas, cell, at);
    for (int d = 0; d < DIRECTIONS; d++) {
        const u32 source = source_of(gas, at, d);
        if (source == NOWHERE) continue;
        const u32 start = bin_start((const Bin*)state.ends, gas.cell_count, source, d);
        const u32 end = (u32)((const Bin*)state.ends)[(size_t)d * gas.cell_count + source];
        for (u32 i = start + threadIdx.x; i < end; i += blockDim.x) {
            const u32 slot = atomicAdd(list, 1u);
            if (slot < most) list[1 + slot] = ((const u32*)state.offset)[source] + i;
        }
    }
    const u32 total = ((const Control*)work.control)->far_total[work.parity];
    const FarRecord* records = (const FarRecord*)work.far_records;
    for (u32 k = threadIdx.x; k < total; k += blockDim.x) {
        if (records[k].cell != cell) continue;
        const u32 slot = atomicAdd(list, 1u);
        if (slot < most) list[1 + slot] = records[k].index;
    }
}
