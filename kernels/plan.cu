//! How many particles each cell will have, where their region begins, which size class takes it.
//! Everything is exact: the numbers come from the tables that the last step left and from this step's inflow.
#include "gas.cuh"
#include "sample.cuh"

#define PLAN_THREADS 256

// Exclusive sum over the block, and the total.
static __device__ __forceinline__ u32 block_scan(u32 value, u32* partial, u32& total) {
    const u32 lane = threadIdx.x & 31u, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    u32 sum = value;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        const u32 below = __shfl_up_sync(FULL_MASK, sum, d);
        if (lane >= d) sum += below;
    }
    if (lane == 31) partial[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        u32 mine = lane < warps ? partial[lane] : 0u;
#pragma unroll
        for (int d = 1; d < 32; d <<= 1) {
            const u32 below = __shfl_up_sync(FULL_MASK, mine, d);
            if (lane >= d) mine += below;
        }
        if (lane < warps) partial[lane] = mine;
    }
    __syncthreads();
    const u32 before = warp == 0 ? 0u : partial[warp - 1];
    total = partial[warps - 1];
    __syncthreads();
    return before + sum - value;
}

// Particles that enter through a site in this step; the site's own stream, so that it can be asked in any order.
static __device__ __forceinline__ u32 entering(const Gas& gas, u64 step, u32 site, double mean) {
    Stream rng = stream_of(gas, step, PURPOSE_INFLOW, site);
    return poisson(mean, rng);
}

// Site of a cell's face, or NOWHERE where nothing enters.
static __device__ __forceinline__ u32 site_of(const Gas& gas, const int at[3], int face) {
    const int axis = face >> 1, edge = (face & 1) ? (int)gas.cells[axis] - 1 : 0;
    if (gas.inflow_mean[face] <= 0.0 || at[axis] != edge) return NOWHERE;
    const int along = (axis + 1) % 3, across = (axis + 2) % 3;
    return gas.inflow_base[face] + (u32)at[across] * gas.cells[along] + (u32)at[along];
}

// Sizes of the regions, into `to.offset`, and their sums over each block.
extern "C" __global__ void __launch_bounds__(PLAN_THREADS) plan_count(PARAM(Gas) gas, PARAM(State) from, PARAM(State) to, PARAM(Work) work) {
    SHARED u32 partial[32];
    const Control* control = (const Control*)work.control;
    if (control->stalled) return;
    const u32 cell = blockIdx.x * blockDim.x + threadIdx.x;
    const bool far_any = control->far_total[work.parity] != 0;
    u32 size = 0, far = 0;
    if (cell < gas.cell_count) {
        int at[3];
        unravel(gas, cell, at);
        const Bin* ends = (const Bin*)from.ends;
        for (int d = 0; d < DIRECTIONS; d++) {
            const u32 source = source_of(gas, at, d);
            if (source != NOWHERE)
                size += (u32)ends[(size_t)d * gas.cell_count + source] - bin_start(ends, gas.cell_count, source, d);
        }
        if (far_any) far = ((const u32*)work.far_count)[cell];
        size += far;
        for (int face = 0; face < 6; face++) {
            const u32 site = site_of(gas, at, face);
            if (site == NOWHERE) continue;
            const u32 entered = entering(gas, control->step, site, gas.inflow_mean[face]);
            ((u32*)work.site_counts)[site] = entered;
            size += entered;
        }
        ((u32*)to.offset)[cell] = size;
    }
    u32 total, far_total = 0;
    block_scan(size, partial, total);
    if (far_any) block_scan(far, partial, far_total);
    if (threadIdx.x == 0) {
        ((u32*)work.block_sums)[2 * blockIdx.x] = total;
        ((u32*)work.block_sums)[2 * blockIdx.x + 1] = far_total;
    }
}

// Offsets of the blocks, and whether there is room. One block.
extern "C" __global__ void __launch_bounds__(1024) plan_scan(PARAM(Gas) gas, PARAM(State) from, PARAM(State) to, PARAM(Work) work, u32 blocks) {
    SHARED u32 partial[32];
    Control* control = (Control*)work.control;
    if (control->stalled) return;
    u32* sums = (u32*)work.block_sums;
    const u32 far_any = control->far_total[work.parity];
    u32 base = 0, far_base = 0;
    u32 overflow = 0;
    for (u32 first = 0; first < blocks; first += blockDim.x) {
        const u32 block = first + threadIdx.x;
        u32 total;
        const u32 before = block_scan(block < blocks ? sums[2 * block] : 0u, partial, total);
        u32 far_before = 0, far_total = 0;
        if (far_any) far_before = block_scan(block < blocks ? sums[2 * block + 1] : 0u, partial, far_total);
        if (block < blocks) {
            sums[2 * block] = base + before;
            sums[2 * block + 1] = far_base + far_before;
        }
        if (base + total < base) overflow = 1;
        base += total;
        far_base += far_total;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        ((u32*)to.offset)[gas.cell_count] = base;
        ((u32*)work.far_offset)[gas.cell_count] = far_base;
        control->needed = overflow ? 0xffffffffu : base;
        if (base > work.capacity || overflow) control->stalled |= STALL_PARTICLES;
        if (2u * far_any > work.far_capacity) control->stalled |= STALL_FAR;
        for (int k = 0; k < 8; k++) control->listed[k] = 0;
        for (int k = 0; k < 16; k++) control->taken[k] = 0;
        control->scratch = 0;
        control->far_total[work.parity ^ 1u] = 0;
    }
}

// Offsets of the cells, and the lists of the size classes: a cell belongs to the first class that holds it.
extern "C" __global__ void __launch_bounds__(PLAN_THREADS)
plan_offset(PARAM(Gas) gas, PARAM(State) from, PARAM(State) to, PARAM(Work) work, u32 direct, uint4 limits) {
    SHARED u32 partial[32];
    Control* control = (Control*)work.control;
    if (control->stalled) return;
    const u32 cell = blockIdx.x * blockDim.x + threadIdx.x;
    const bool mine = cell < gas.cell_count;
    const bool far_any = control->far_total[work.parity] != 0;
    const u32 size = mine ? ((u32*)to.offset)[cell] : 0u;
    u32 total;
    const u32 before = block_scan(size, partial, total);
    u32 far_before = 0;
    if (far_any) far_before = block_scan(mine ? ((const u32*)work.far_count)[cell] : 0u, partial, total);
    if (!mine) return;
    const u32* sums = (const u32*)work.block_sums;
    ((u32*)to.offset)[cell] = sums[2 * blockIdx.x] + before;
    if (far_any) ((u32*)work.far_offset)[cell] = sums[2 * blockIdx.x + 1] + far_before;
    const u32 size_class = size <= limits.x ? 0u : size <= limits.y ? 1u : size <= limits.z ? 2u : size <= limits.w ? 3u : 4u;
    if (size_class != direct) {
        const u32 place = atomicAdd(&control->listed[size_class], 1u);
        ((u32*)work.lists)[(size_t)size_class * gas.cell_count + place] = cell;
        if (size_class == 4u) {
            const u32 room = (size + 3u) & ~3u, at = atomicAdd(&control->scratch, room);
            ((u32*)work.scratch_at)[place] = at;
            if (at + room > work.scratch_capacity || at + room < at) atomicOr(&control->stalled, STALL_SCRATCH);
            if (sizeof(Bin) == 2 && size > 0xffffu) atomicOr(&control->stalled, STALL_BINS);
        }
    }
}

// Hands the far flights over to the cells where they ended. The order within a cell is settled there.
extern "C" __global__ void __launch_bounds__(256) far_place(PARAM(Gas) gas, PARAM(Work) work) {
    const Control* control = (const Control*)work.control;
    const u32 total = control->far_total[work.parity];
    if (total == 0 || control->stalled) return;
    const FarRecord* records = (const FarRecord*)work.far_records;
    for (u32 k = blockIdx.x * blockDim.x + threadIdx.x; k < total; k += gridDim.x * blockDim.x) {
        const FarRecord record = records[k];
        // Counts down to zero, ready for the flights of this step.
        const u32 slot = atomicSub((u32*)work.far_count + record.cell, 1u) - 1u;
        ((u32*)work.far_index)[((const u32*)work.far_offset)[record.cell] + slot] = record.index;
    }
}

// Ends a step: sums the copies of the counters into the log, and counts the step. One block.
extern "C" __global__ void __launch_bounds__(256) close_step(PARAM(Gas) gas, PARAM(Work) work, PARAM(Orders) orders) {
    Control* control = (Control*)work.control;
    if (control->stalled) return;
    const u32 width = COUNTS + 8 * gas.body_count;
    i64* log = (i64*)work.log + (size_t)orders.slot * width;
    for (u32 k = threadIdx.x; k < width; k += blockDim.x) {
        i64 sum = 0;
        if (k < COUNTS) {
            for (u32 copy = 0; copy < SPREAD; copy++) {
                i64* from = (i64*)work.counts + copy * COUNTS + k;
                sum += *from;
                *from = 0;
            }
        } else {
            for (u32 copy = 0; copy < SPREAD; copy++) {
                i64* from = (i64*)gas.body_sums + (size_t)copy * 8 * gas.body_count + (k - COUNTS);
                sum += *from;
                *from = 0;
            }
        }
        log[k] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        log[COUNT_FAR] = control->far_total[work.parity ^ 1u];
        control->step += 1;
    }
}
