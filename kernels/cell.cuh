//! The cells of a step: slots in shared memory, collisions, gathering from the neighbours, sorting by direction.
//! Knows nothing of walls, faces or which cell is whose turn.
#pragma once
#include "gas.cuh"
#include "sample.cuh"

// How far above the pair that exceeded it a majorant is raised.
#define RAISE 1.1f
// Largest expected collisions of a particle in a pass of Half-Split-Shuffle, see src/physics/collide/half_split.rs.
#define COLLISIONS_PER_PASS 0.05
// Molecules in a sliver of gas would have almost as many candidates as the sliver is thin.
#define THINNEST 1e-4f

#ifdef ROTATION
#define SLOT_WORDS 8
#else
#define SLOT_WORDS 7
#endif

// The particles of a cell. CAP is their most where it is known when compiling: then all columns are at constant distances
// from one address, which saves the registers of the others. 28 bytes a slot, 32 with rotation.
template <int CAP> struct Slots {
    u32* base;
    u32 length;  // if CAP is 0; a multiple of 4
    __device__ __forceinline__ u32 cap() const { return CAP ? (u32)CAP : length; }
    // Velocity and the bits of the tag.
    __device__ __forceinline__ float4& velocity(u32 i) const { return ((float4*)base)[i]; }
    __device__ __forceinline__ uint2& place(u32 i) const { return ((uint2*)(base + 4 * cap()))[i]; }
    // Of a pair in collisions; then bin << 27 | rank.
    __device__ __forceinline__ u32& lock(u32 i) const { return base[6 * cap() + i]; }
    __device__ __forceinline__ float& rotation(u32 i) const { return ((float*)base)[7 * cap() + i]; }
};

// What a group of threads has beside its slots, in shared memory.
template <int THREADS> struct Board {
    u32 bins[32 * (THREADS / 32)];
    double partial[6 * (THREADS / 32)];
    u64 counts[4];  // particles, candidates, collisions, kept
    u32 next;       // cell to take
};

template <int THREADS> static __device__ __forceinline__ void sync() {
    if (THREADS == 32) __syncwarp();
    else __syncthreads();
}

template <int THREADS> static __device__ __forceinline__ bool any(bool value) {
    if (THREADS == 32) return __any_sync(FULL_MASK, value);
    return __syncthreads_or(value);
}

static __device__ __forceinline__ u32 warp_sum(u32 value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(FULL_MASK, value);
#else
#pragma unroll
    for (int d = 16; d; d >>= 1) value += __shfl_xor_sync(FULL_MASK, value, d);
    return value;
#endif
}

static __device__ __forceinline__ double warp_sum(double value) {
#pragma unroll
    for (int d = 16; d; d >>= 1) value += __shfl_xor_sync(FULL_MASK, value, d);
    return value;
}

// What the collisions of a cell did, of one thread.
struct Collided {
    u32 candidates, collisions, exceeded, clipped;
    float highest;  // largest sigma c_r above the majorant
};

// One candidate pair: whether it collides is decided by `accept`, of sigma c_r.
template <bool SHUFFLE, int CAP>
static __device__ __forceinline__ void try_pair(
    const Gas& gas, const Slots<CAP>& s, u32 i, u32 j, float bound, float scale, float unit, u32 cell, u32 block, u64 step,
    Collided& done) {
    const float4 p = s.velocity(i), q = s.velocity(j);
    float3 a = make_float3(p.x, p.y, p.z), b = make_float3(q.x, q.y, q.z);
    const float square = relative_speed_squared(a, b);
    const float rate = pair_rate(gas.pair, square);
    if (rate > bound) {
        done.exceeded++;
        done.highest = fmaxf(done.highest, rate);
    }
    bool accept;
    if (SHUFFLE) {
        const float probability = scale * rate;
        done.clipped += probability > 1.0f;
        accept = unit < probability;
    } else {
        accept = unit * bound < rate;
    }
    if (accept) {
        const uint4 words = random_block(gas.seed, step, PURPOSE_COLLIDE, cell, block | 0x80000000u);
        scatter(gas.pair, square, a, b, words.x, words.y);
        s.velocity(i) = make_float4(a.x, a.y, a.z, p.w);
        s.velocity(j) = make_float4(b.x, b.y, b.z, q.w);
        done.collisions++;
    }
}


// Whether a class of cells can hold cells that are light, or heavy.
#define MAY_BE_LIGHT(cap) (HEAVY_FROM > 0)
#define MAY_BE_HEAVY(cap) ((cap) == 0 || (u32)(cap) >= HEAVY_FROM)

// Collides the n particles of a cell. Candidate k of No-Time-Counter (Bird 1994, section 11.1) has block k + 1 of the
// cell's random numbers, so that candidates are tried side by side; those that share a particle take turns in the order of
// their numbers, so that the result is that of a serial loop.
template <int THREADS, int CAP>
static __device__ __forceinline__ Collided collide(
    const Gas& gas, const Slots<CAP>& s, u32 n, u32 cell, u64 step, u32 lane, float bound, double exposure) {
    Collided done = {0, 0, 0, 0, 0.0f};
    if (MAY_BE_LIGHT(CAP) && (!MAY_BE_HEAVY(CAP) || n < HEAVY_FROM)) {
        const double mean = 0.5 * (double)n * (double)(n - 1u) * exposure * (double)bound;
        const double whole = floor(mean);
        u32 candidates = 0;
        for (u32 k0 = 0; k0 == 0 || k0 <= candidates; k0 += THREADS) {
            // The first block says how a fraction of a candidate is rounded.
            const u32 block = k0 + lane;
            const uint4 words = random_block(gas.seed, step, PURPOSE_COLLIDE, cell, block);
            if (k0 == 0) {
                u32 first = __shfl_sync(FULL_MASK, words.x, 0);
                if (THREADS > 32) first = random_block(gas.seed, step, PURPOSE_COLLIDE, cell, 0).x;
                candidates = (u32)whole + (unit_f64_of(first) < mean - whole ? 1u : 0u);
                if (lane == 0) done.candidates = candidates;
            }
            bool waiting = block > 0 && block <= candidates;
            const u32 i = below_of(words.x, n);
            u32 j = below_of(words.y, n - 1u);
            j += j >= i;
            do {
                if (waiting) {
                    atomicMin(&s.lock(i), block);
                    atomicMin(&s.lock(j), block);
                }
                sync<THREADS>();
                const bool turn = waiting && s.lock(i) == block && s.lock(j) == block;
                sync<THREADS>();
                if (waiting) s.lock(i) = s.lock(j) = FULL_MASK;
                if (turn) {
                    try_pair<false, CAP>(gas, s, i, j, bound, 0.0f, unit_of(words.z), cell, block, step, done);
                    waiting = false;
                }
            } while (any<THREADS>(waiting));
        }
    } else if (MAY_BE_HEAVY(CAP)) {
        // Half-Split-Shuffle, as in src/physics/collide/half_split.rs.
        const double factor = (double)(n - 1u + (n & 1u));
        const double wanted =
            ceil(factor * exposure * (double)bound / (COLLISIONS_PER_PASS * (double)gas.majorant_ratio));
        const u32 passes = wanted < 1.0 ? 1u : (u32)wanted;
        const float scale = (float)(factor * exposure / (double)passes);
        const u32 half = n / 2u;
        for (u32 pass = 0; pass < passes; pass++) {
            // Blocks from the top, which no pair reaches.
            const PermKey key =
                permutation_key(n, random_block(gas.seed, step, PURPOSE_COLLIDE, cell, 0xffffffffu - 2u * pass),
                    random_block(gas.seed, step, PURPOSE_COLLIDE, cell, 0xfffffffeu - 2u * pass));
            for (u32 k = lane; k < half; k += THREADS) {
                u32 i, j;
                pair_of(k, n, key, i, j);
                const u32 block = pass * half + k + 1u;
                const uint4 words = random_block(gas.seed, step, PURPOSE_COLLIDE, cell, block);
                done.candidates++;
                try_pair<true, CAP>(gas, s, i, j, bound, scale, unit_of(words.x), cell, block, step, done);
            }
            sync<THREADS>();
        }
    }
    return done;
}

// Index of a far arrival, the k-th in the list of a cell; they come in any order, so that its slot is its rank.
static __device__ __noinline__ u32 locate_far(const Work& work, u32 cell, u32 k, u32* rank) {
    const u32 first = ((const u32*)work.far_offset)[cell], total = ((const u32*)work.far_offset)[cell + 1] - first;
    const u32* index = (const u32*)work.far_index + first;
    const u32 mine = index[k];
    u32 less = 0;
    for (u32 m = 0; m < total; m++) less += index[m] < mine;
    *rank = less;
    return mine;
}

// Gathers a cell's particles into slots; returns their number. Lane d < 27 of each warp knows the run of direction d: where
// it ends among the cell's particles, and how far it lies from there in the state that is read; far arrivals follow.
template <int THREADS, int CAP, bool EDGE>
static __device__ __forceinline__ u32 gather(
    const Gas& gas, const State& from, const Work& work, u32 cell, u32 lane, bool far_any, const Slots<CAP>& s) {
    const u32 d = lane & 31u;
    u32 length = 0, base = 0;
    if (d < DIRECTIONS) {
        u32 source;
        if (EDGE) {
            int at[3];
            unravel(gas, cell, at);
            source = source_of(gas, at, (int)d);
        } else {
            // All 26 neighbours are there.
            const int x = (int)(d % 3u) - 1, y = (int)(d / 3u % 3u) - 1, z = (int)(d / 9u) - 1;
            source = cell - (u32)((z * (int)gas.cells[1] + y) * (int)gas.cells[0] + x);
        }
        if (!EDGE || source != NOWHERE) {
            const Bin* ends = (const Bin*)from.ends + (size_t)d * gas.cell_count + source;
            const u32 start = d == 0 ? 0u : (u32)*(ends - gas.cell_count);
            length = (u32)*ends - start;
            base = ((const u32*)from.offset)[source] + start;
        }
    } else if (d == FAR && far_any) {
        length = ((const u32*)work.far_offset)[cell + 1] - ((const u32*)work.far_offset)[cell];
    }
    u32 end = length;
#pragma unroll
    for (int step = 1; step < 32; step <<= 1) {
        const u32 before = __shfl_up_sync(FULL_MASK, end, step);
        if (d >= (u32)step) end += before;
    }
    base -= end - length;
    const u32 n = __shfl_sync(FULL_MASK, end, 31);
    const u32 near_end = __shfl_sync(FULL_MASK, end, FAR - 1);
    const float4* velocity = (const float4*)from.velocity;
    const uint2* place = (const uint2*)from.place;
    for (u32 i0 = lane & ~31u; i0 < n; i0 += 2 * THREADS) {
        // Two particles in flight a thread.
        const u32 i = i0 + d, j = i + THREADS;
        u32 run = 0, other_run = 0;
#pragma unroll
        for (u32 width = 16; width; width >>= 1) {
            if (__shfl_sync(FULL_MASK, end, run + width - 1) <= i) run += width;
            if (__shfl_sync(FULL_MASK, end, other_run + width - 1) <= j) other_run += width;
        }
        u32 index = __shfl_sync(FULL_MASK, base, run) + i, other = __shfl_sync(FULL_MASK, base, other_run) + j;
        u32 slot = i, other_slot = j;
        if (far_any) {
            u32 rank;
            if (i >= near_end && i < n) {
                index = locate_far(work, cell, i - near_end, &rank);
                slot = near_end + rank;
            }
            if (j >= near_end && j < n) {
                other = locate_far(work, cell, j - near_end, &rank);
                other_slot = near_end + rank;
            }
        }
        float4 v, w;
        uint2 x, y;
        if (i < n) {
            v = velocity[index];
            x = place[index];
        }
        if (j < n) {
            w = velocity[other];
            y = place[other];
        }
        if (i < n) {
            s.velocity(slot) = v;
            s.place(slot) = x;
            s.lock(slot) = FULL_MASK;
#ifdef ROTATION
            s.rotation(slot) = ((const float*)from.rotation)[index];
#endif
        }
        if (j < n) {
            s.velocity(other_slot) = w;
            s.place(other_slot) = y;
            s.lock(other_slot) = FULL_MASK;
#ifdef ROTATION
            s.rotation(other_slot) = ((const float*)from.rotation)[other];
#endif
        }
    }
    sync<THREADS>();
    return n;
}

// Adds a cell's velocities relative to the stream to its 7 sums.
template <int THREADS>
static __device__ __noinline__ void sum_cell(const Gas& gas, u32* base, u32 n, u32 lane, double* partial, double* out) {
    double sums[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    for (u32 i = lane; i < n; i += THREADS) {
        const float4 p = ((const float4*)base)[i];
        const float v[3] = {p.x - gas.stream[0], p.y - gas.stream[1], p.z - gas.stream[2]};
#pragma unroll
        for (int a = 0; a < 3; a++) {
            sums[a] += (double)v[a];
            sums[3 + a] += (double)v[a] * (double)v[a];
        }
    }
#pragma unroll
    for (int k = 0; k < 6; k++) sums[k] = warp_sum(sums[k]);
    if ((lane & 31u) == 0) {
#pragma unroll
        for (int k = 0; k < 6; k++) partial[(lane >> 5) * 6 + k] = sums[k];
    }
    sync<THREADS>();
    if (lane < 7) {
        double total = (double)n;
        if (lane > 0) {
            total = 0.0;
            for (int w = 0; w < THREADS / 32; w++) total += partial[w * 6 + lane - 1];
        }
        out[lane] += total;
    }
    sync<THREADS>();
}

// Gathers a cell's particles, collides and samples them; returns their number. EDGE: the cell may be at a face of the domain
// or near a wall; others have all their neighbours.
template <int THREADS, int CAP, bool EDGE>
static __device__ __forceinline__ u32 begin_cell(const Gas& gas, const State& from, const Work& work, const Orders& orders,
    u32 cell, u32 lane, u64 step, bool far_any, const Slots<CAP>& s, Board<THREADS>& board) {
    const u32 n = gather<THREADS, CAP, EDGE>(gas, from, work, cell, lane, far_any, s);
#ifdef COLLISIONS
    if (n > 1) {
        float* majorants = (float*)work.majorants;
        double exposure = gas.exposure;
#ifdef WALLS
        if (EDGE && walls::clearance(gas.walls, cell) == 0)
            exposure /= (double)fmaxf(walls::gas_fraction(gas.walls, cell), THINNEST);
#endif
        const Collided done = collide<THREADS>(gas, s, n, cell, step, lane, majorants[cell], exposure);
        if (any<THREADS>(done.highest > 0.0f)) {
            // Rare. The largest of all, whichever comes first; positive floats compare as integers.
            float highest = done.highest;
            for (int d = 16; d; d >>= 1) highest = fmaxf(highest, __shfl_xor_sync(FULL_MASK, highest, d));
            if ((lane & 31u) == 0) atomicMax((u32*)majorants + cell, __float_as_uint(RAISE * highest));
            if (done.exceeded) count(work, COUNT_EXCEEDED, done.exceeded);
        }
        if (done.clipped) count(work, COUNT_CLIPPED, done.clipped);
        const u32 candidates = warp_sum(done.candidates), collisions = warp_sum(done.collisions);
        if ((lane & 31u) == 0) {
            if (THREADS == 32) {
                board.counts[1] += candidates;
                board.counts[2] += collisions;
            } else {
                atomicAdd(&board.counts[1], (u64)candidates);
                atomicAdd(&board.counts[2], (u64)collisions);
            }
        }
    }
    sync<THREADS>();
#endif
    if (orders.sample) sum_cell<THREADS>(gas, s.base, n, lane, board.partial, (double*)work.sums + 7 * (size_t)cell);
    return n;
}

// Notes where the particle of a slot goes: its rank among those of its warp with the same bin, in the order of the slots.
// All lanes of a warp take part; those without a particle have bin 31.
template <int CAP>
static __device__ __forceinline__ void rank_slot(const Slots<CAP>& s, u32* mine, u32 i, u32 slots, u32 word) {
    const u32 below = (1u << (threadIdx.x & 31u)) - 1u, bin = word >> 27;
    __syncwarp();
    const u32 same = __match_any_sync(FULL_MASK, bin);
    const u32 before = mine[bin];
    __syncwarp();
    if ((same & below) == 0) mine[bin] = before + __popc(same);
    if (i < slots) s.lock(i) = bin == FAR ? word : word | (before + __popc(same & below));
}

// Leaves the particles of a cell, whose locks say where each goes, sorted by bin in its region.
template <int THREADS, int CAP>
static __device__ __forceinline__ void finish_cell(const Gas& gas, const State& to, const Work& work, const Orders& orders,
    u32 cell, u32 lane, const Slots<CAP>& s, Board<THREADS>& board, u32 first, u32 slots, u32 n) {
    const int WARPS = THREADS / 32;
    const u32* mine = board.bins + (lane & ~31u);
    const u32 below = (1u << (lane & 31u)) - 1u;
    // Where each warp's share of each bin begins, and the table of ends.
    if (lane < 32) {
        u32 total = 0;
        if (lane < BINS)
            for (int w = 0; w < WARPS; w++) total += board.bins[32 * w + lane];
        u32 sum = total;
#pragma unroll
        for (int d = 1; d < 32; d <<= 1) {
            const u32 before = __shfl_up_sync(FULL_MASK, sum, d);
            if (lane >= (u32)d) sum += before;
        }
        if (lane < BINS) {
            ((Bin*)to.ends)[(size_t)lane * gas.cell_count + cell] = (Bin)sum;
            u32 start = sum - total;
            for (int w = 0; w < WARPS; w++) {
                const u32 length = board.bins[32 * w + lane];
                board.bins[32 * w + lane] = start;
                start += length;
            }
        }
        if (lane == FAR) {
            board.counts[0] += n;
            board.counts[3] += sum;
        }
    }
    sync<THREADS>();

    float4* velocity = (float4*)to.velocity + first;
    uint2* place = (uint2*)to.place + first;
    u32 far_rank = mine[FAR];
    double energy = 0.0;
    for (u32 i0 = lane & ~31u; i0 < slots; i0 += THREADS) {
        const u32 i = i0 + (lane & 31u);
        const u32 word = i < slots ? s.lock(i) : 0xffffffffu;
        const u32 bin = word >> 27;
        u32 index = mine[bin] + (word & 0x7ffffffu);
        const u32 far_lanes = __ballot_sync(FULL_MASK, bin == FAR);
        if (far_lanes) {
            if (bin == FAR) {
                index = far_rank + __popc(far_lanes & below);
                const u32 record = word & 0x7ffffffu;
                if (record < work.far_capacity) ((FarRecord*)work.far_records)[record].index = first + index;
                else atomicOr(&((Control*)work.control)->stalled, STALL_LOST);
            }
            far_rank += __popc(far_lanes);
        }
        if (bin <= FAR) {
            const float4 v = s.velocity(i);
            velocity[index] = v;
            place[index] = s.place(i);
#ifdef ROTATION
            ((float*)to.rotation)[first + index] = s.rotation(i);
#endif
            if (orders.energy) energy += (double)(v.x * v.x + v.y * v.y + v.z * v.z);
        }
    }
    if (orders.energy) {
        energy = warp_sum(energy);
        if ((lane & 31u) == 0) count(work, COUNT_ENERGY, (u64)__double2ll_rn(0.5 * energy * gas.kinetic_scale));
    }
    sync<THREADS>();
}

// Adds a group's counters to those of the step.
template <int THREADS> static __device__ __forceinline__ void hand_in(const Work& work, u32 lane, const Board<THREADS>& board) {
    sync<THREADS>();
    if (lane < 4) {
        const u32 which = lane == 0 ? COUNT_PARTICLES : lane == 1 ? COUNT_CANDIDATES : lane == 2 ? COUNT_COLLISIONS : COUNT_KEPT;
        count(work, which, board.counts[lane]);
    }
}

