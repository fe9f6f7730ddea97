// step.cu: the step of all cells in one pass. A group of threads (a warp, or a block) takes a cell, pulls its particles
// from the regions of the neighbours, collides, samples, moves, lets in what enters through its faces, and leaves them
// sorted by direction in the cell's own region of the other state. No order is decided by who comes first, so that the
// same run has the same bits.
#include "gas.cuh"
#include "motion.cuh"
#include "plan.cu"

// Fewer candidate pairs are not worth a second look at the majorant.
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

// The particles of a cell, as columns.
struct Slots {
    float *vx, *vy, *vz;
    u32 *tag, *low, *high;
    u32* lock;  // of a pair in collisions; then direction << 27 | rank
    float* rotation;
};

static __device__ __forceinline__ Slots slots_at(u32* memory, u32 capacity) {
    Slots s;
    s.vx = (float*)memory;
    s.vy = s.vx + capacity;
    s.vz = s.vy + capacity;
    s.tag = (u32*)(s.vz + capacity);
    s.low = s.tag + capacity;
    s.high = s.low + capacity;
    s.lock = s.high + capacity;
    s.rotation = (float*)(s.lock + capacity);
    return s;
}

template <int THREADS> static __device__ __forceinline__ void sync() {
    if (THREADS == 32) __syncwarp();
    else __syncthreads();
}

template <int THREADS> static __device__ __forceinline__ bool any(bool value) {
    if (THREADS == 32) return __any_sync(FULL_MASK, value);
    return __syncthreads_or(value);
}

static __device__ __forceinline__ u32 warp_sum(u32 value) {
#pragma unroll
    for (int d = 16; d; d >>= 1) value += __shfl_xor_sync(FULL_MASK, value, d);
    return value;
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
template <bool SHUFFLE>
static __device__ __forceinline__ void try_pair(
    const Gas& gas, const Slots& s, u32 i, u32 j, float bound, float scale, float unit, u32 cell, u32 block, u64 step,
    Collided& done) {
    float3 a = make_float3(s.vx[i], s.vy[i], s.vz[i]), b = make_float3(s.vx[j], s.vy[j], s.vz[j]);
    const float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
    const float square = dx * dx + dy * dy + dz * dz;
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
        const uint4 words = philox(block | 0x80000000u, cell, (u32)step, ((u32)(step >> 32) & 0xffffffu) | (PURPOSE_COLLIDE << 24),
            (u32)gas.seed, (u32)(gas.seed >> 32));
        scatter(gas.pair, square, a, b, words.x, words.y);
        s.vx[i] = a.x;
        s.vy[i] = a.y;
        s.vz[i] = a.z;
        s.vx[j] = b.x;
        s.vy[j] = b.y;
        s.vz[j] = b.z;
        done.collisions++;
    }
}


// Collides the n particles of a cell. Pairs of No-Time-Counter that share a particle take turns in the order of their
// numbers, so that the result is that of a serial loop.
template <int THREADS>
static __device__ __forceinline__ Collided collide(const Gas& gas, const Slots& s, u32 n, u32 cell, u64 step, u32 lane,
    float bound, double exposure) {
    Collided done = {0, 0, 0, 0, 0.0f};
    const u32 high = ((u32)(step >> 32) & 0xffffffu) | (PURPOSE_COLLIDE << 24);
    const u32 key0 = (u32)gas.seed, key1 = (u32)(gas.seed >> 32);
    if (n < gas.heavy_from) {
        const uint4 first = philox(0u, cell, (u32)step, high, key0, key1);
        const double mean = 0.5 * (double)n * (double)(n - 1u) * exposure * (double)bound;
        const double whole = floor(mean);
        const double chance = ((double)first.x + 0.5) * (1.0 / 4294967296.0);
        const u32 candidates = (u32)whole + (chance < mean - whole ? 1u : 0u);
        if (lane == 0) done.candidates = candidates;
        for (u32 k0 = 0; k0 < candidates; k0 += THREADS) {
            const u32 k = k0 + lane;
            bool waiting = k < candidates;
            u32 i = 0, j = 0;
            float unit = 0.0f;
            if (waiting) {
                const uint4 words = philox(k + 1u, cell, (u32)step, high, key0, key1);
                i = __umulhi(words.x, n);
                j = __umulhi(words.y, n - 1u);
                j += j >= i;
                unit = unit_of(words.z);
            }
            do {
                if (waiting) {
                    atomicMin(&s.lock[i], k);
                    atomicMin(&s.lock[j], k);
                }
                sync<THREADS>();
                const bool turn = waiting && s.lock[i] == k && s.lock[j] == k;
                sync<THREADS>();
                if (waiting) s.lock[i] = s.lock[j] = FULL_MASK;
                if (turn) {
                    try_pair<false>(gas, s, i, j, bound, 0.0f, unit, cell, k + 1u, step, done);
                    waiting = false;
                }
            } while (any<THREADS>(waiting));
        }
    } else {
        const double factor = (double)(n - 1u + (n & 1u));
        const double passes_wanted =
            ceil(factor * exposure * (double)bound / (COLLISIONS_PER_PASS * (double)gas.majorant_ratio));
        const u32 passes = passes_wanted < 1.0 ? 1u : (u32)passes_wanted;
        const float scale = (float)(factor * exposure / (double)passes);
        const u32 half = n / 2u;
        for (u32 pass = 0; pass < passes; pass++) {
            const PermKey key = permutation_key(gas.seed, step, cell, pass, n);
            for (u32 k = lane; k < half; k += THREADS) {
                const u32 i = permute(k, n, key), j = permute(k + half, n, key);
                const u32 block = pass * half + k + 1u;
                const uint4 words = philox(block, cell, (u32)step, high, key0, key1);
                done.candidates++;
                try_pair<true>(gas, s, i, j, bound, scale, unit_of(words.x), cell, block, step, done);
            }
            sync<THREADS>();
        }
    }
    return done;
}

// Direction from a cell to one that is the neighbour of it, over periodic faces too; FAR for others.
static __device__ __forceinline__ u32 direction_to(const Gas& gas, const int at[3], const i64 to[3]) {
    int code = 0, unit = 1;
    for (int a = 0; a < 3; a++) {
        int e = (int)(to[a] >> PLACE_BITS) - at[a];
        const int cells = (int)gas.cells[a];
        if (gas.faces[2 * a] == FACE_PERIODIC) {
            if (e == cells - 1) e = -1;
            else if (e == 1 - cells) e = 1;
        }
        if (e < -1 || e > 1) return FAR;
        code += (e + 1) * unit;
        unit *= 3;
    }
    return (u32)code;
}

// Notes a far flight; returns the number of its record.
static __device__ __forceinline__ u32 note_far(const Work& work, u32 cell) {
    Control* control = (Control*)work.control;
    const u32 k = atomicAdd(&control->far_total[work.parity ^ 1u], 1u);
    if (k < work.far_capacity) {
        ((FarRecord*)work.far_records)[k].cell = cell;
        atomicAdd((u32*)work.far_count + cell, 1u);
    }
    return k;
}

// The slow path of one particle: all walls and faces. Leaves the result in its slot and returns its bin.
static __device__ __noinline__ u32 move_slowly(const Gas& gas, const Work& work, const Orders& orders, const Slots& s, u32 i,
    const int at[3], u64 step, u32 index, u32& record) {
    Flight flight;
    u32 x[3];
    unpack_place(s.low[i], s.high[i], x[0], x[1], x[2]);
    for (int a = 0; a < 3; a++) flight.at[a] = ((i64)at[a] << PLACE_BITS) + x[a];
    flight.velocity[0] = s.vx[i];
    flight.velocity[1] = s.vy[i];
    flight.velocity[2] = s.vz[i];
    flight.tag = s.tag[i];
#ifdef ROTATION
    flight.rotation = s.rotation[i];
#else
    flight.rotation = 0.0f;
#endif
    Stream rng = stream_of(gas, step, PURPOSE_WALL, index);
    if (!fly(gas, work, orders, flight, 1.0, rng)) return GONE;
    s.vx[i] = flight.velocity[0];
    s.vy[i] = flight.velocity[1];
    s.vz[i] = flight.velocity[2];
    s.tag[i] = flight.tag;
#ifdef ROTATION
    s.rotation[i] = flight.rotation;
#endif
    const uint2 place = pack_place((u32)flight.at[0] & PLACE_MASK, (u32)flight.at[1] & PLACE_MASK, (u32)flight.at[2] & PLACE_MASK);
    s.low[i] = place.x;
    s.high[i] = place.y;
    const u32 bin = direction_to(gas, at, flight.at);
    if (bin == FAR) record = note_far(work, cell_of(gas, flight.at));
    return bin;
}

// Lets the k-th molecule of a step in through a site and flies it for the rest of the step; returns its bin.
// Bird (1994, section 12.1): each crosses the face at a uniform instant of the step.
static __device__ __noinline__ u32 enter(const Gas& gas, const Work& work, const Orders& orders, const Slots& s, u32 i,
    const int at[3], int face, u32 site, u32 k, u64 step, u32& record) {
    const int axis = face >> 1, along = (axis + 1) % 3, across = (axis + 2) % 3;
    const bool upper = face & 1;
    // Blocks from 2^12 (k + 1): the first are for the number of molecules.
    Stream rng = stream_of(gas, step, PURPOSE_INFLOW, site);
    stream_skip_to(rng, (k + 1u) << 12);
    Flight flight;
    flight.at[axis] = upper ? ((i64)gas.cells[axis] << PLACE_BITS) - 1 : 0;
    flight.at[along] = ((i64)at[along] << PLACE_BITS) + (rng.bits() >> (32 - PLACE_BITS));
    flight.at[across] = ((i64)at[across] << PLACE_BITS) + (rng.bits() >> (32 - PLACE_BITS));
    const float inward = upper ? -1.0f : 1.0f, speed = gas.inflow_speed;
    const float normal = inflow_speed(inward * gas.stream[axis] / speed, rng) * speed;
    float2 g = gauss_pair(rng);
    flight.velocity[axis] = inward * normal;
    flight.velocity[along] = gas.stream[along] + g.x * gas.thermal_speed;
    flight.velocity[across] = gas.stream[across] + g.y * gas.thermal_speed;
    flight.rotation = 0.0f;
#ifdef ROTATION
    flight.rotation = -0.5f * speed * speed * logf(rng.unit());
#endif
    const double share = (double)rng.unit();
    flight.tag = rng.bits() >> 8;
    touch(flight.tag, (u32)face + 1u);
#ifdef WALLS
    if (!in_gas(gas.walls, flight.at)) return GONE;
#endif
    count(work, COUNT_ENTERED, 1);
    if (!fly(gas, work, orders, flight, share, rng)) return GONE;
    s.vx[i] = flight.velocity[0];
    s.vy[i] = flight.velocity[1];
    s.vz[i] = flight.velocity[2];
    s.tag[i] = flight.tag;
#ifdef ROTATION
    s.rotation[i] = flight.rotation;
#endif
    const uint2 place = pack_place((u32)flight.at[0] & PLACE_MASK, (u32)flight.at[1] & PLACE_MASK, (u32)flight.at[2] & PLACE_MASK);
    s.low[i] = place.x;
    s.high[i] = place.y;
    const u32 bin = direction_to(gas, at, flight.at);
    if (bin == FAR) record = note_far(work, cell_of(gas, flight.at));
    return bin;
}

// Where the runs of a cell's particles lie in the state that is read. Lane d < 27 of the first warp fills in the run of
// direction d; far arrivals follow. Returns the number of particles.
template <int THREADS>
static __device__ __forceinline__ u32 find_runs(const Gas& gas, const State& from, const Work& work, u32 cell,
    const int at[3], u32 lane, bool far_any, u32* run_end, u32* run_base) {
    if (lane < 32) {
        u32 length = 0, base = 0;
        if (lane < DIRECTIONS) {
            const u32 source = source_of(gas, at, (int)lane);
            if (source != NONE) {
                const Bin* ends = (const Bin*)from.ends;
                const u32 start = bin_start(ends, gas.cell_count, source, (int)lane);
                length = (u32)ends[(size_t)lane * gas.cell_count + source] - start;
                base = ((const u32*)from.offset)[source] + start;
            }
        } else if (lane == FAR && far_any) {
            base = ((const u32*)work.far_offset)[cell];
            length = ((const u32*)work.far_offset)[cell + 1] - base;
        }
        u32 sum = length;
#pragma unroll
        for (int d = 1; d < 32; d <<= 1) {
            const u32 below = __shfl_up_sync(FULL_MASK, sum, d);
            if (lane >= (u32)d) sum += below;
        }
        run_end[lane] = sum;
        run_base[lane] = lane == FAR ? base : base - (sum - length);
    }
    sync<THREADS>();
    return run_end[31];
}

// Index of the i-th particle of the cell in the state that is read, and the slot where it goes.
static __device__ __forceinline__ u32 locate(const Work& work, const u32* run_end, const u32* run_base, u32 i, u32& slot) {
    int run = 0;
#pragma unroll
    for (int width = 16; width; width >>= 1)
        if (run_end[run + width - 1] <= i) run += width;
    slot = i;
    if (run < FAR) return run_base[run] + i;
    // Far arrivals come in any order; the index of each is its rank among them.
    const u32 first = run_end[FAR - 1], total = run_end[FAR] - first;
    const u32* index = (const u32*)work.far_index + run_base[FAR];
    const u32 mine = index[i - first];
    u32 rank = 0;
    for (u32 m = 0; m < total; m++) rank += index[m] < mine;
    slot = first + rank;
    return mine;
}

static __device__ __forceinline__ void put(const Slots& s, u32 slot, float4 velocity, uint2 place) {
    s.vx[slot] = velocity.x;
    s.vy[slot] = velocity.y;
    s.vz[slot] = velocity.z;
    s.tag[slot] = __float_as_uint(velocity.w);
    s.low[slot] = place.x;
    s.high[slot] = place.y;
    s.lock[slot] = FULL_MASK;
}

// Sums of a cell's velocities relative to the stream, into `out` of 7 doubles; `partial` has 7 doubles a warp.
template <int THREADS>
static __device__ __forceinline__ void sum_cell(const Gas& gas, const Slots& s, u32 n, u32 lane, double* partial, double* out,
    bool add) {
    double sums[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    for (u32 i = lane; i < n; i += THREADS) {
        const float v[3] = {s.vx[i] - gas.stream[0], s.vy[i] - gas.stream[1], s.vz[i] - gas.stream[2]};
#pragma unroll
        for (int a = 0; a < 3; a++) {
            sums[a] += (double)v[a];
            sums[3 + a] += (double)v[a] * (double)v[a];
        }
    }
#pragma unroll
    for (int k = 0; k < 6; k++) sums[k] = warp_sum(sums[k]);
    if (THREADS == 32) {
        if (lane == 0) {
            out[0] = (add ? out[0] : 0.0) + (double)n;
            for (int k = 0; k < 6; k++) out[1 + k] = (add ? out[1 + k] : 0.0) + sums[k];
        }
    } else {
        if ((lane & 31u) == 0)
            for (int k = 0; k < 6; k++) partial[(lane >> 5) * 6 + k] = sums[k];
        sync<THREADS>();
        if (lane < 7) {
            double total = (double)n;
            if (lane > 0) {
                total = 0.0;
                for (int w = 0; w < THREADS / 32; w++) total += partial[w * 6 + lane - 1];
            }
            out[lane] = (add ? out[lane] : 0.0) + total;
        }
        sync<THREADS>();
    }
}

// Gathers a cell's particles into slots; returns their number.
template <int THREADS>
static __device__ __forceinline__ u32 gather(const Gas& gas, const State& from, const Work& work, u32 cell, const int at[3],
    u32 lane, bool far_any, const Slots& s, u32* run_end, u32* run_base) {
    const u32 n = find_runs<THREADS>(gas, from, work, cell, at, lane, far_any, run_end, run_base);
    const float4* velocity = (const float4*)from.velocity;
    const uint2* place = (const uint2*)from.place;
    // Two particles in flight a thread.
    for (u32 i = lane; i < n; i += 2 * THREADS) {
        const u32 j = i + THREADS;
        u32 slot, other_slot = 0, other = 0;
        const u32 index = locate(work, run_end, run_base, i, slot);
        if (j < n) other = locate(work, run_end, run_base, j, other_slot);
        const float4 v = velocity[index];
        const uint2 x = place[index];
        float4 w;
        uint2 y;
        if (j < n) {
            w = velocity[other];
            y = place[other];
        }
        put(s, slot, v, x);
        if (j < n) put(s, other_slot, w, y);
#ifdef ROTATION
        s.rotation[slot] = ((const float*)from.rotation)[index];
        if (j < n) s.rotation[other_slot] = ((const float*)from.rotation)[other];
#endif
    }
    sync<THREADS>();
    return n;
}

// One cell.
template <int THREADS>
static __device__ __forceinline__ void step_cell(const Gas& gas, const State& from, const State& to, const Work& work,
    const Orders& orders, u32 cell, u32 lane, u64 step, bool far_any, const Slots& s, u32* run_end, u32* run_base, u32* bins,
    double* partial, u64* tallied) {
    const int WARPS = THREADS / 32;
    const u32 warp = lane >> 5;
    int at[3];
    unravel(gas, cell, at);
    const u32 n = gather<THREADS>(gas, from, work, cell, at, lane, far_any, s, run_end, run_base);
    for (u32 k = lane; k < 32u * WARPS; k += THREADS) bins[k] = 0;

#ifdef WALLS
    const u32 clear = clearance(gas.walls, cell);
#endif
    Collided done = {0, 0, 0, 0, 0.0f};
#ifdef COLLISIONS
    float* majorants = (float*)work.majorants;
    if (n > 1) {
        double exposure = gas.exposure;
#ifdef WALLS
        if (clear == 0) exposure /= (double)fmaxf(gas_fraction(gas.walls, cell), THINNEST);
#endif
        const float bound = majorants[cell];
        done = collide<THREADS>(gas, s, n, cell, step, lane, bound, exposure);
        float highest = done.highest;
        if (any<THREADS>(highest > 0.0f)) {
            // Rare. The largest of all, whichever comes first; positive floats compare as integers.
            for (int d = 16; d; d >>= 1) highest = fmaxf(highest, __shfl_xor_sync(FULL_MASK, highest, d));
            if ((lane & 31u) == 0) atomicMax((u32*)majorants + cell, __float_as_uint(RAISE * highest));
        }
    }
#endif
    sync<THREADS>();
    if (orders.sample) sum_cell<THREADS>(gas, s, n, lane, partial, (double*)work.sums + 7 * (size_t)cell, true);

    // Move. Each warp counts its own particles in each bin, in the order of the slots.
    u32* mine = bins + 32 * warp;
    const u32 first = ((const u32*)to.offset)[cell], slots = ((const u32*)to.offset)[cell + 1] - first;
    const u32 below = (1u << (lane & 31u)) - 1u;
    for (u32 i0 = 0; i0 < slots; i0 += THREADS) {
        const u32 i = i0 + lane;
        u32 bin = 31, record = 0;
        if (i < n) {
            u32 x, y, z;
            unpack_place(s.low[i], s.high[i], x, y, z);
            const float dx = s.vx[i] * gas.advance[0], dy = s.vy[i] * gas.advance[1], dz = s.vz[i] * gas.advance[2];
            // The comparison is false for what is not a number.
            const bool near = fabsf(dx) < 1e9f && fabsf(dy) < 1e9f && fabsf(dz) < 1e9f;
            const int px = (int)x + __float2int_rn(dx), py = (int)y + __float2int_rn(dy), pz = (int)z + __float2int_rn(dz);
            const int ex = px >> PLACE_BITS, ey = py >> PLACE_BITS, ez = pz >> PLACE_BITS;
            const u32 distance = (u32)max(abs(ex), max(abs(ey), abs(ez)));
            const bool inside = (u32)(at[0] + ex) < gas.cells[0] && (u32)(at[1] + ey) < gas.cells[1] &&
                (u32)(at[2] + ez) < gas.cells[2];
#ifdef WALLS
            const bool free = distance < clear;
#else
            const bool free = true;
#endif
            if (near && inside && free) {
                const uint2 place = pack_place((u32)px & PLACE_MASK, (u32)py & PLACE_MASK, (u32)pz & PLACE_MASK);
                s.low[i] = place.x;
                s.high[i] = place.y;
                bin = (u32)((ez + 1) * 9 + (ey + 1) * 3 + ex + 1);
                if (distance > 1) {
                    bin = FAR;
                    record = note_far(work, index_of(gas, at[0] + ex, at[1] + ey, at[2] + ez));
                }
            } else {
                bin = move_slowly(gas, work, orders, s, i, at, step, first + i, record);
            }
        } else if (i < slots) {
            // The molecules that enter follow, face by face.
            u32 k = i - n;
            for (int face = 0; face < 6; face++) {
                const u32 site = site_of(gas, at, face);
                if (site == NONE) continue;
                const u32 entering = ((const u32*)work.site_counts)[site];
                if (k < entering) {
                    bin = enter(gas, work, orders, s, i, at, face, site, k, step, record);
                    break;
                }
                k -= entering;
            }
        }
        __syncwarp();
        const u32 same = __match_any_sync(FULL_MASK, bin);
        const u32 rank = mine[bin] + __popc(same & below);
        __syncwarp();
        if ((same & below) == 0) mine[bin] += __popc(same);
        __syncwarp();
        if (i < slots) s.lock[i] = (bin << 27) | (bin == FAR ? record : rank);
    }
    sync<THREADS>();

    // Where each warp's share of each bin begins, and the table of ends.
    if (lane < 32) {
        u32 total = 0;
        if (lane < BINS)
            for (int w = 0; w < WARPS; w++) total += bins[32 * w + lane];
        u32 sum = total;
#pragma unroll
        for (int d = 1; d < 32; d <<= 1) {
            const u32 before = __shfl_up_sync(FULL_MASK, sum, d);
            if (lane >= (u32)d) sum += before;
        }
        if (lane == FAR) atomicAdd(&tallied[COUNT_KEPT], (u64)sum);
        if (lane < BINS) {
            ((Bin*)to.ends)[(size_t)lane * gas.cell_count + cell] = (Bin)sum;
            u32 start = sum - total;
            for (int w = 0; w < WARPS; w++) {
                const u32 length = bins[32 * w + lane];
                bins[32 * w + lane] = start;
                start += length;
            }
        }
    }
    sync<THREADS>();

    float4* velocity = (float4*)to.velocity;
    uint2* place = (uint2*)to.place;
    u32 far_rank = mine[FAR];
    double energy = 0.0;
    for (u32 i0 = 0; i0 < slots; i0 += THREADS) {
        const u32 i = i0 + lane;
        const u32 word = i < slots ? s.lock[i] : 0xffffffffu;
        const u32 bin = word >> 27;
        u32 index = 0;
        if (bin < FAR) index = first + mine[bin] + (word & 0x7ffffffu);
        const u32 far_lanes = __ballot_sync(FULL_MASK, bin == FAR);
        if (far_lanes) {
            if (bin == FAR) {
                index = first + far_rank + __popc(far_lanes & below);
                const u32 record = word & 0x7ffffffu;
                if (record < work.far_capacity) ((FarRecord*)work.far_records)[record].index = index;
                else atomicOr(&((Control*)work.control)->stalled, 16u);
            }
            far_rank += __popc(far_lanes);
        }
        if (bin <= FAR) {
            const float vx = s.vx[i], vy = s.vy[i], vz = s.vz[i];
            velocity[index] = make_float4(vx, vy, vz, __uint_as_float(s.tag[i]));
            place[index] = make_uint2(s.low[i], s.high[i]);
#ifdef ROTATION
            ((float*)to.rotation)[index] = s.rotation[i];
#endif
            if (orders.energy) energy += (double)(vx * vx + vy * vy + vz * vz);
        }
    }
    if (orders.energy) {
        energy = warp_sum(energy);
        if ((lane & 31u) == 0) count(work, COUNT_ENERGY, (u64)__double2ll_rn(0.5 * energy * gas.kinetic_scale));
    }
    // Counters, gathered by the block.
    const u32 candidates = warp_sum(done.candidates), collisions = warp_sum(done.collisions);
    if ((lane & 31u) == 0) {
        if (candidates) atomicAdd(&tallied[COUNT_CANDIDATES], (u64)candidates);
        if (collisions) atomicAdd(&tallied[COUNT_COLLISIONS], (u64)collisions);
    }
    if (lane == 0) atomicAdd(&tallied[COUNT_PARTICLES], (u64)n);
    if (done.exceeded) count(work, COUNT_EXCEEDED, done.exceeded);
    if (done.clipped) count(work, COUNT_CLIPPED, done.clipped);
    sync<THREADS>();
}

// A kernel for cells of one size class: `GROUPS` cells a block at a time. Without a list, all cells in turn, of which
// those of other classes are left out.
template <int THREADS, int GROUPS>
static __device__ __forceinline__ void step_class(const Gas& gas, const State& from, const State& to, const Work& work,
    const Orders& orders, u32 size_class, u32 listed, u32 low, u32 high) {
    DYNAMIC_SHARED(memory);
    SHARED(u64, tallied, COUNTS);
    SHARED(double, partial, 6 * (THREADS / 32) * GROUPS);
    const Control* control = (const Control*)work.control;
    if (control->stalled) return;
    const u32 group = THREADS == 32 ? threadIdx.x >> 5 : 0u, lane = THREADS == 32 ? threadIdx.x & 31u : threadIdx.x;
    const u32 words = SLOT_WORDS * high + 64 + 32 * (THREADS / 32);
    u32* own = (u32*)memory + (size_t)group * words;
    u32 *run_end = own, *run_base = own + 32, *bins = own + 64;
    const Slots s = slots_at(own + 64 + 32 * (THREADS / 32), high);
    const u64 step = control->step;
    const bool far_any = control->far_total[work.parity] != 0;
    if (threadIdx.x < COUNTS) tallied[threadIdx.x] = 0;
    __syncthreads();
    const u32 total = listed ? control->listed[size_class] : gas.cell_count;
    const u32* list = (const u32*)work.lists + (size_t)size_class * gas.cell_count;
    const u32* offset = (const u32*)to.offset;
    for (u32 k = blockIdx.x * GROUPS + group; k < total; k += gridDim.x * GROUPS) {
        const u32 cell = listed ? list[k] : k;
        const u32 size = offset[cell + 1] - offset[cell];
        if (size > high || (size < low)) continue;
        step_cell<THREADS>(gas, from, to, work, orders, cell, lane, step, far_any, s, run_end, run_base, bins,
            partial + 6 * (THREADS / 32) * group, tallied);
    }
    __syncthreads();
    if (threadIdx.x < COUNTS && tallied[threadIdx.x]) count(work, threadIdx.x, tallied[threadIdx.x]);
}

#define STEP_ARGUMENTS PARAM(Gas) gas, PARAM(State) from, PARAM(State) to, PARAM(Work) work, PARAM(Orders) orders, u32 size_class, u32 listed, u32 low, u32 high
#define STEP_PASS gas, from, to, work, orders, size_class, listed, low, high
extern "C" __global__ void __launch_bounds__(256, STEP_BLOCKS) step_32(STEP_ARGUMENTS) { step_class<32, 8>(STEP_PASS); }
extern "C" __global__ void __launch_bounds__(64) step_64(STEP_ARGUMENTS) { step_class<64, 1>(STEP_PASS); }
extern "C" __global__ void __launch_bounds__(128) step_128(STEP_ARGUMENTS) { step_class<128, 1>(STEP_PASS); }
extern "C" __global__ void __launch_bounds__(512) step_512(STEP_ARGUMENTS) { step_class<512, 1>(STEP_PASS); }

// Cells that no block's memory holds: their slots are in global memory.
extern "C" __global__ void __launch_bounds__(512) step_giant(PARAM(Gas) gas, PARAM(State) from, PARAM(State) to, PARAM(Work) work, PARAM(Orders) orders) {
    SHARED(u64, tallied, COUNTS);
    SHARED(double, partial, 6 * 16);
    SHARED(u32, small, 64 + 32 * 16);
    const Control* control = (const Control*)work.control;
    if (control->stalled) return;
    if (threadIdx.x < COUNTS) tallied[threadIdx.x] = 0;
    __syncthreads();
    const u32 total = control->listed[4];
    for (u32 k = blockIdx.x; k < total; k += gridDim.x) {
        const u32 cell = ((const u32*)work.lists)[(size_t)4 * gas.cell_count + k];
        const u32 size = ((const u32*)to.offset)[cell + 1] - ((const u32*)to.offset)[cell];
        const u32 first = ((const u32*)work.scratch_at)[k];
        const Slots s = slots_at((u32*)work.scratch + (size_t)SLOT_WORDS * first, size);
        step_cell<512>(gas, from, to, work, orders, cell, threadIdx.x, control->step, control->far_total[work.parity] != 0, s,
            small, small + 32, small + 64, partial, tallied);
    }
    __syncthreads();
    if (threadIdx.x < COUNTS && tallied[threadIdx.x]) count(work, threadIdx.x, tallied[threadIdx.x]);
}
