// step.cu: the step of all cells in one pass. A group of threads (a warp, or a block) takes a cell, pulls its particles
// from the regions of the neighbours, collides, samples, moves, lets in what enters through its faces, and leaves them
// sorted by direction in the cell's own region of the other state. No order is decided by who comes first, so that the
// same run has the same bits.
#include "gas.cuh"
#include "motion.cuh"
#include "plan.cu"
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

// Leaves a flight that has ended in its slot; returns bin << 27 | number of the record of a far one.
static __device__ u32 leave(const Gas& gas, const Work& work, const Slots<0>& s, u32 i, u32 cell, const Flight& flight) {
    s.velocity(i) =
        make_float4(flight.velocity[0], flight.velocity[1], flight.velocity[2], __uint_as_float(flight.tag));
#ifdef ROTATION
    s.rotation(i) = flight.rotation;
#endif
    s.place(i) = pack_place(
        (u32)flight.at[0] & PLACE_MASK, (u32)flight.at[1] & PLACE_MASK, (u32)flight.at[2] & PLACE_MASK);
    int at[3];
    unravel(gas, cell, at);
    const u32 bin = direction_to(gas, at, flight.at);
    return (bin << 27) | (bin == FAR ? note_far(work, cell_of(gas, flight.at)) : 0u);
}

// The slow path of one particle: all walls and faces. Returns as `leave`. Few arguments and no addresses of the caller's
// variables, so that the fast path keeps those in registers.
static __device__ __noinline__ u32 move_slowly(
    const Gas& gas, const Work& work, const Orders& orders, u32* base, u32 cap, u32 i, u32 cell, u32 index) {
    const Slots<0> s = {base, cap};
    Flight flight;
    u32 x[3];
    int at[3];
    unravel(gas, cell, at);
    const uint2 place = s.place(i);
    unpack_place(place.x, place.y, x[0], x[1], x[2]);
    for (int a = 0; a < 3; a++) flight.at[a] = ((i64)at[a] << PLACE_BITS) + x[a];
    const float4 v = s.velocity(i);
    flight.velocity[0] = v.x;
    flight.velocity[1] = v.y;
    flight.velocity[2] = v.z;
    flight.tag = __float_as_uint(v.w);
#ifdef ROTATION
    flight.rotation = s.rotation(i);
#else
    flight.rotation = 0.0f;
#endif
    Stream rng = stream_of(gas, ((const Control*)work.control)->step, PURPOSE_WALL, index);
    if (!fly(gas, work, orders, flight, 1.0, rng)) return (u32)GONE << 27;
    return leave(gas, work, s, i, cell, flight);
}

// Lets the k-th molecule of a step in through the faces of a cell, face by face, and flies it for the rest of the step;
// returns as `leave`. Bird (1994, section 12.1): each crosses the face at a uniform instant of the step.
static __device__ __noinline__ u32 enter(
    const Gas& gas, const Work& work, const Orders& orders, u32* base, u32 cap, u32 i, u32 cell, u32 k) {
    const Slots<0> s = {base, cap};
    int at[3];
    unravel(gas, cell, at);
    u32 site = NOWHERE;
    int face = 0;
    for (; face < 6; face++) {
        site = site_of(gas, at, face);
        if (site == NOWHERE) continue;
        const u32 entering = ((const u32*)work.site_counts)[site];
        if (k < entering) break;
        k -= entering;
    }
    if (face == 6) return (u32)GONE << 27;
    const int axis = face >> 1, along = (axis + 1) % 3, across = (axis + 2) % 3;
    const bool upper = face & 1;
    // Blocks from 2^12 (k + 1): the first are for the number of molecules.
    Stream rng = stream_of(gas, ((const Control*)work.control)->step, PURPOSE_INFLOW, site, (k + 1u) << 12);
    Flight flight;
    flight.at[axis] = upper ? ((i64)gas.cells[axis] << PLACE_BITS) - 1 : 0;
    flight.at[along] = ((i64)at[along] << PLACE_BITS) + (rng.bits() >> (32 - PLACE_BITS));
    flight.at[across] = ((i64)at[across] << PLACE_BITS) + (rng.bits() >> (32 - PLACE_BITS));
    const float inward = upper ? -1.0f : 1.0f, speed = gas.inflow_speed;
    const float normal = inflow_speed(inward * gas.stream[axis] / speed, rng) * speed;
    const float2 g = gauss_pair(rng);
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
    if (!walls::in_gas(gas.walls, flight.at)) return (u32)GONE << 27;
#endif
    count(work, COUNT_ENTERED, 1);
    if (!fly(gas, work, orders, flight, share, rng)) return (u32)GONE << 27;
    return leave(gas, work, s, i, cell, flight);
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

// Whether a particle that flies to this place (1: the same coordinate of cells, 0 and 2: those beside it) leaves the domain
// and meets nothing but open faces.
static __device__ __forceinline__ bool leaves(const Gas& gas, const int at[3], u32 ex, u32 ey, u32 ez, u32 clear) {
    if (ex > 2u || ey > 2u || ez > 2u || clear < 2u) return false;
    const u32 e[3] = {ex, ey, ez};
    bool outside = false, open = true;
#pragma unroll
    for (int a = 0; a < 3; a++) {
        const int to = at[a] - 1 + (int)e[a];
        if (to < 0) {
            outside = true;
            open = open && gas.faces[2 * a] == FACE_OPEN;
        } else if (to >= (int)gas.cells[a]) {
            outside = true;
            open = open && gas.faces[2 * a + 1] == FACE_OPEN;
        }
    }
    return outside && open;
}

// One cell. EDGE: it may be at a face of the domain, near a wall, or let gas in; others have all their neighbours, and
// nothing is in the way to them.
template <int THREADS, int CAP, bool EDGE>
static __device__ __forceinline__ void step_cell(const Gas& gas, const State& from, const State& to, const Work& work,
    const Orders& orders, u32 cell, u32 lane, u64 step, bool far_any, const Slots<CAP>& s, Board<THREADS>& board, u32 first,
    u32 slots) {
    const int WARPS = THREADS / 32;
    u32* mine = board.bins + (lane & ~31u);
    mine[lane & 31u] = 0;
    const u32 n = gather<THREADS, CAP, EDGE>(gas, from, work, cell, lane, far_any, s);
#ifdef WALLS
    const u32 clear = EDGE ? (u32)walls::clearance(gas.walls, cell) : 2u;
#else
    const u32 clear = 255u;
#endif
#ifdef COLLISIONS
    if (n > 1) {
        float* majorants = (float*)work.majorants;
        double exposure = gas.exposure;
#ifdef WALLS
        if (EDGE && clear == 0) exposure /= (double)fmaxf(walls::gas_fraction(gas.walls, cell), THINNEST);
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

    // Move. Each warp counts its own particles in each bin, in the order of the slots; those that enter follow.
    const u32 below = (1u << (lane & 31u)) - 1u;
    int at[3] = {0, 0, 0};
    if (EDGE) unravel(gas, cell, at);
    u32 left = 0;
    for (u32 i0 = lane & ~31u; i0 < slots; i0 += THREADS) {
        const u32 i = i0 + (lane & 31u);
        u32 word = 31u << 27;
        if (i < n) {
            const float4 v = s.velocity(i);
            const uint2 old = s.place(i);
            u32 x, y, z;
            unpack_place(old.x, old.y, x, y, z);
            const float dx = v.x * gas.advance[0], dy = v.y * gas.advance[1], dz = v.z * gas.advance[2];
            const int px = (int)x + __float2int_rn(dx), py = (int)y + __float2int_rn(dy), pz = (int)z + __float2int_rn(dz);
            const u32 ex = (u32)((px >> PLACE_BITS) + 1), ey = (u32)((py >> PLACE_BITS) + 1), ez = (u32)((pz >> PLACE_BITS) + 1);
            // To a neighbour; the sum of squares is not a number, and the comparison false, if one of them is not.
            bool free = ex < 3u && ey < 3u && ez < 3u && dx * dx + dy * dy + dz * dz < 1e18f;
            if (EDGE) {
                free = free && (u32)(at[0] - 1 + (int)ex) < gas.cells[0] && (u32)(at[1] - 1 + (int)ey) < gas.cells[1] &&
                    (u32)(at[2] - 1 + (int)ez) < gas.cells[2];
#ifdef WALLS
                free = free && (clear > 1u || (clear == 1u && ex == 1u && ey == 1u && ez == 1u));
#endif
            }
            if (free) {
                s.place(i) = pack_place((u32)px & PLACE_MASK, (u32)py & PLACE_MASK, (u32)pz & PLACE_MASK);
                word = (ez * 9u + ey * 3u + ex) << 27;
            } else if (EDGE && leaves(gas, at, ex, ey, ez, clear)) {
                // Nothing but open faces in its way out.
                word = (u32)GONE << 27;
                left++;
            } else {
                word = move_slowly(gas, work, orders, s.base, s.cap(), i, cell, first + i);
            }
        } else if (EDGE && i < slots) {
            word = enter(gas, work, orders, s.base, s.cap(), i, cell, i - n);
        }
        const u32 bin = word >> 27;
        __syncwarp();
        const u32 same = __match_any_sync(FULL_MASK, bin);
        const u32 before = mine[bin];
        __syncwarp();
        if ((same & below) == 0) mine[bin] = before + __popc(same);
        if (i < slots) s.lock(i) = bin == FAR ? word : word | (before + __popc(same & below));
    }
    if (EDGE) {
        left = warp_sum(left);
        if ((lane & 31u) == 0) count(work, COUNT_LEFT, left);
    }
    sync<THREADS>();

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

// Which cells a kernel goes over.
enum { OVER_CORES = 0, OVER_EDGES = 1, OVER_LIST = 2 };

// A kernel for cells of one size class, those with at most CAP particles and at least `low`. Groups of threads take the
// next `TAKE` cells when they are done with theirs, so that none waits for another; the results do not depend on who takes
// what. Cells of other classes are left out.
template <int THREADS, int GROUPS, int CAP, int TAKE, bool EDGE>
static __device__ __forceinline__ void step_class(const Gas& gas, const State& from, const State& to, const Work& work,
    const Orders& orders, u32 size_class, u32 over, u32 low, u32 counter) {
    DYNAMIC_SHARED(shared);
    unsigned char* memory = shared;
    Control* control = (Control*)work.control;
    if (control->stalled) return;
    const u32 group = THREADS == 32 ? threadIdx.x >> 5 : 0u, lane = THREADS == 32 ? threadIdx.x & 31u : threadIdx.x;
    const Slots<CAP> s = {(u32*)memory + group * (SLOT_WORDS * CAP), CAP};
    Board<THREADS>& board = ((Board<THREADS>*)(memory + 4 * SLOT_WORDS * CAP * GROUPS))[group];
    const u64 step = control->step;
    const bool far_any = control->far_total[work.parity] != 0;
    if (lane < 4) board.counts[lane] = 0;
    const u32 total = over == OVER_LIST ? control->listed[size_class] : over == OVER_EDGES ? work.edge_count : work.core_count;
    const u32* list = over == OVER_LIST ? (const u32*)work.lists + (size_t)size_class * gas.cell_count
        : over == OVER_EDGES            ? (const u32*)work.edges
                                        : (const u32*)work.cores;
    for (;;) {
        u32 begin = 0;
        if (lane == 0) begin = atomicAdd(&control->taken[counter], (u32)TAKE);
        if (THREADS == 32) {
            begin = __shfl_sync(FULL_MASK, begin, 0);
        } else {
            if (lane == 0) board.next = begin;
            sync<THREADS>();
            begin = board.next;
            sync<THREADS>();
        }
        if (begin >= total) break;
        const u32 end = min(begin + TAKE, total);
        for (u32 k = begin; k < end; k++) {
            const u32 cell = list[k];
            const u32 first = ((const u32*)to.offset)[cell], size = ((const u32*)to.offset)[cell + 1] - first;
            if (size > CAP || size < low) continue;
            step_cell<THREADS, CAP, EDGE>(gas, from, to, work, orders, cell, lane, step, far_any, s, board, first, size);
        }
    }
    hand_in<THREADS>(work, lane, board);
}

#define STEP_ARGUMENTS                                                                                                  \
    PARAM(Gas) gas, PARAM(State) from, PARAM(State) to, PARAM(Work) work, PARAM(Orders) orders, u32 size_class, u32 over, \
        u32 low, u32 counter
#define STEP_PASS gas, from, to, work, orders, size_class, over, low, counter
extern "C" __global__ void __launch_bounds__(256, STEP_BLOCKS) core_32(STEP_ARGUMENTS) {
    step_class<32, 8, CAP_32, 2, false>(STEP_PASS);
}
extern "C" __global__ void __launch_bounds__(256, STEP_BLOCKS) step_32(STEP_ARGUMENTS) {
    step_class<32, 8, CAP_32, 1, true>(STEP_PASS);
}
extern "C" __global__ void __launch_bounds__(64, 4 * STEP_BLOCKS) core_64(STEP_ARGUMENTS) {
    step_class<64, 1, CAP_64, 1, false>(STEP_PASS);
}
extern "C" __global__ void __launch_bounds__(64, 3 * STEP_BLOCKS) step_64(STEP_ARGUMENTS) {
    step_class<64, 1, CAP_64, 1, true>(STEP_PASS);
}
extern "C" __global__ void __launch_bounds__(128, STEP_BLOCKS) step_128(STEP_ARGUMENTS) {
    step_class<128, 1, CAP_128, 1, true>(STEP_PASS);
}
extern "C" __global__ void __launch_bounds__(512, 1) step_512(STEP_ARGUMENTS) {
    step_class<512, 1, CAP_512, 1, true>(STEP_PASS);
}

// Cells that no block's memory holds: their slots are in global memory.
extern "C" __global__ void __launch_bounds__(512, 1)
step_giant(PARAM(Gas) gas, PARAM(State) from, PARAM(State) to, PARAM(Work) work, PARAM(Orders) orders) {
    DYNAMIC_SHARED(shared);
    Board<512>& board = *(Board<512>*)shared;
    const Control* control = (const Control*)work.control;
    if (control->stalled) return;
    if (threadIdx.x < 4) board.counts[threadIdx.x] = 0;
    __syncthreads();
    const u32 total = control->listed[4];
    for (u32 k = blockIdx.x; k < total; k += gridDim.x) {
        const u32 cell = ((const u32*)work.lists)[(size_t)4 * gas.cell_count + k];
        const u32 first = ((const u32*)to.offset)[cell], size = ((const u32*)to.offset)[cell + 1] - first;
        const u32 at = ((const u32*)work.scratch_at)[k];
        const Slots<0> s = {(u32*)work.scratch + (size_t)SLOT_WORDS * at, (size + 3u) & ~3u};
        step_cell<512, 0, true>(gas, from, to, work, orders, cell, threadIdx.x, control->step,
            control->far_total[work.parity] != 0, s, board, first, size);
    }
    hand_in<512>(work, threadIdx.x, board);
}
