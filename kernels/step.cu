// step.cu: the step of all cells in one pass. A group of threads (a warp, or a block) takes a cell, pulls its particles
// from the regions of the neighbours, collides, samples, moves, lets in what enters through its faces, and leaves them
// sorted by direction in the cell's own region of the other state. No order is decided by who comes first, so that the
// same run has the same bits.
#include "gas.cuh"
#include "motion.cuh"
#include "plan.cu"

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

// The particles of a cell, as columns. CAP is their length where it is known when compiling: then all columns are at
// constant distances from one address, which saves the registers of the others.
template <int CAP> struct Slots {
    u32* base;
    u32 length;  // if CAP is 0
    __device__ __forceinline__ u32 cap() const { return CAP ? (u32)CAP : length; }
    __device__ __forceinline__ float& vx(u32 i) const { return ((float*)base)[i]; }
    __device__ __forceinline__ float& vy(u32 i) const { return ((float*)base)[cap() + i]; }
    __device__ __forceinline__ float& vz(u32 i) const { return ((float*)base)[2 * cap() + i]; }
    __device__ __forceinline__ u32& tag(u32 i) const { return base[3 * cap() + i]; }
    __device__ __forceinline__ u32& low(u32 i) const { return base[4 * cap() + i]; }
    __device__ __forceinline__ u32& high(u32 i) const { return base[5 * cap() + i]; }
    // Of a pair in collisions; then bin << 27 | rank.
    __device__ __forceinline__ u32& lock(u32 i) const { return base[6 * cap() + i]; }
    __device__ __forceinline__ float& rotation(u32 i) const { return ((float*)base)[7 * cap() + i]; }
};

// What a group of threads has beside its slots, in shared memory.
template <int THREADS> struct Board {
    u32 run_end[32], run_base[32];
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
template <bool SHUFFLE, int CAP>
static __device__ __forceinline__ void try_pair(
    const Gas& gas, const Slots<CAP>& s, u32 i, u32 j, float bound, float scale, float unit, u32 cell, u32 block, u64 step,
    Collided& done) {
    float3 a = make_float3(s.vx(i), s.vy(i), s.vz(i)), b = make_float3(s.vx(j), s.vy(j), s.vz(j));
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
        s.vx(i) = a.x;
        s.vy(i) = a.y;
        s.vz(i) = a.z;
        s.vx(j) = b.x;
        s.vy(j) = b.y;
        s.vz(j) = b.z;
        done.collisions++;
    }
}


// Collides the n particles of a cell. Pairs of No-Time-Counter that share a particle take turns in the order of their
// numbers, so that the result is that of a serial loop.
template <int THREADS, int CAP>
static __device__ __forceinline__ Collided collide(const Gas& gas, const Slots<CAP>& s, u32 n, u32 cell, u64 step, u32 lane,
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
                    atomicMin(&s.lock(i), k);
                    atomicMin(&s.lock(j), k);
                }
                sync<THREADS>();
                const bool turn = waiting && s.lock(i) == k && s.lock(j) == k;
                sync<THREADS>();
                if (waiting) s.lock(i) = s.lock(j) = FULL_MASK;
                if (turn) {
                    try_pair<false, CAP>(gas, s, i, j, bound, 0.0f, unit, cell, k + 1u, step, done);
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
    s.vx(i) = flight.velocity[0];
    s.vy(i) = flight.velocity[1];
    s.vz(i) = flight.velocity[2];
    s.tag(i) = flight.tag;
#ifdef ROTATION
    s.rotation(i) = flight.rotation;
#endif
    const uint2 place = pack_place(
        (u32)flight.at[0] & PLACE_MASK, (u32)flight.at[1] & PLACE_MASK, (u32)flight.at[2] & PLACE_MASK);
    s.low(i) = place.x;
    s.high(i) = place.y;
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
    unpack_place(s.low(i), s.high(i), x[0], x[1], x[2]);
    for (int a = 0; a < 3; a++) flight.at[a] = ((i64)at[a] << PLACE_BITS) + x[a];
    flight.velocity[0] = s.vx(i);
    flight.velocity[1] = s.vy(i);
    flight.velocity[2] = s.vz(i);
    flight.tag = s.tag(i);
#ifdef ROTATION
    flight.rotation = s.rotation(i);
#else
    flight.rotation = 0.0f;
#endif
    Stream rng = stream_of(gas, ((const Control*)work.control)->step, PURPOSE_WALL, index);
    if (!fly(gas, work, orders, flight, 1.0, rng)) return GONE << 27;
    return leave(gas, work, s, i, cell, flight);
}

// Lets the k-th molecule of a step in through the faces of a cell, face by face, and flies it for the rest of the step;
// returns as `leave`. Bird (1994, section 12.1): each crosses the face at a uniform instant of the step.
static __device__ __noinline__ u32 enter(
    const Gas& gas, const Work& work, const Orders& orders, u32* base, u32 cap, u32 i, u32 cell, u32 k) {
    const Slots<0> s = {base, cap};
    int at[3];
    unravel(gas, cell, at);
    u32 site = NONE;
    int face = 0;
    for (; face < 6; face++) {
        site = site_of(gas, at, face);
        if (site == NONE) continue;
        const u32 entering = ((const u32*)work.site_counts)[site];
        if (k < entering) break;
        k -= entering;
    }
    if (face == 6) return GONE << 27;
    const int axis = face >> 1, along = (axis + 1) % 3, across = (axis + 2) % 3;
    const bool upper = face & 1;
    // Blocks from 2^12 (k + 1): the first are for the number of molecules.
    Stream rng = stream_of(gas, ((const Control*)work.control)->step, PURPOSE_INFLOW, site);
    stream_skip_to(rng, (k + 1u) << 12);
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
    if (!in_gas(gas.walls, flight.at)) return GONE << 27;
#endif
    count(work, COUNT_ENTERED, 1);
    if (!fly(gas, work, orders, flight, share, rng)) return GONE << 27;
    return leave(gas, work, s, i, cell, flight);
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

template <int CAP>
static __device__ __forceinline__ void put(const Slots<CAP>& s, u32 slot, float4 velocity, uint2 place) {
    s.vx(slot) = velocity.x;
    s.vy(slot) = velocity.y;
    s.vz(slot) = velocity.z;
    s.tag(slot) = __float_as_uint(velocity.w);
    s.low(slot) = place.x;
    s.high(slot) = place.y;
    s.lock(slot) = FULL_MASK;
}

// Adds a cell's velocities relative to the stream to its 7 sums.
template <int THREADS, int CAP>
static __device__ __noinline__ void sum_cell(const Gas& gas, u32* base, u32 cap, u32 n, u32 lane, double* partial, double* out) {
    const Slots<0> s = {base, cap};
    double sums[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    for (u32 i = lane; i < n; i += THREADS) {
        const float v[3] = {s.vx(i) - gas.stream[0], s.vy(i) - gas.stream[1], s.vz(i) - gas.stream[2]};
#pragma unroll
        for (int a = 0; a < 3; a++) {
            sums[a] += (double)v[a];
            sums[3 + a] += (double)v[a] * (double)v[a];
        }
    }
#pragma unroll
    for (int k = 0; k < 6; k++) sums[k] = warp_sum(sums[k]);
    if ((lane & 31u) == 0)
#pragma unroll
        for (int k = 0; k < 6; k++) partial[(lane >> 5) * 6 + k] = sums[k];
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

// Gathers a cell's particles into slots; returns their number.
template <int THREADS, int CAP>
static __device__ __forceinline__ u32 gather(const Gas& gas, const State& from, const Work& work, u32 cell, const int at[3],
    u32 lane, bool far_any, const Slots<CAP>& s, Board<THREADS>& board) {
    const u32 n = find_runs<THREADS>(gas, from, work, cell, at, lane, far_any, board.run_end, board.run_base);
    const float4* velocity = (const float4*)from.velocity;
    const uint2* place = (const uint2*)from.place;
    // Two particles in flight a thread.
    for (u32 i = lane; i < n; i += 2 * THREADS) {
        const u32 j = i + THREADS;
        u32 slot, other_slot = 0, other = 0;
        const u32 index = locate(work, board.run_end, board.run_base, i, slot);
        if (j < n) other = locate(work, board.run_end, board.run_base, j, other_slot);
        const float4 v = velocity[index];
        const uint2 x = place[index];
        float4 w = v;
        uint2 y = x;
        if (j < n) {
            w = velocity[other];
            y = place[other];
        }
        put(s, slot, v, x);
        if (j < n) put(s, other_slot, w, y);
#ifdef ROTATION
        s.rotation(slot) = ((const float*)from.rotation)[index];
        if (j < n) s.rotation(other_slot) = ((const float*)from.rotation)[other];
#endif
    }
    sync<THREADS>();
    return n;
}

// One cell.
template <int THREADS, int CAP>
static __device__ __forceinline__ void step_cell(const Gas& gas, const State& from, const State& to, const Work& work,
    const Orders& orders, u32 cell, u32 lane, u64 step, bool far_any, const Slots<CAP>& s, Board<THREADS>& board) {
    const int WARPS = THREADS / 32;
    u32* mine = board.bins + 32 * (lane >> 5);
    u32 n, first, slots;
    {
        int at[3];
        unravel(gas, cell, at);
        first = ((const u32*)to.offset)[cell];
        slots = ((const u32*)to.offset)[cell + 1] - first;
        n = gather<THREADS>(gas, from, work, cell, at, lane, far_any, s, board);
    }
    mine[lane & 31u] = 0;
#ifdef WALLS
    const u32 clear = clearance(gas.walls, cell);
#endif
#ifdef COLLISIONS
    {
        Collided done = {0, 0, 0, 0, 0.0f};
        float* majorants = (float*)work.majorants;
        if (n > 1) {
            double exposure = gas.exposure;
#ifdef WALLS
            if (clear == 0) exposure /= (double)fmaxf(gas_fraction(gas.walls, cell), THINNEST);
#endif
            const float bound = majorants[cell];
            done = collide<THREADS>(gas, s, n, cell, step, lane, bound, exposure);
            if (any<THREADS>(done.highest > 0.0f)) {
                // Rare. The largest of all, whichever comes first; positive floats compare as integers.
                float highest = done.highest;
                for (int d = 16; d; d >>= 1) highest = fmaxf(highest, __shfl_xor_sync(FULL_MASK, highest, d));
                if ((lane & 31u) == 0) atomicMax((u32*)majorants + cell, __float_as_uint(RAISE * highest));
            }
            const u32 candidates = warp_sum(done.candidates), collisions = warp_sum(done.collisions);
            if ((lane & 31u) == 0) {
                atomicAdd(&board.counts[1], (u64)candidates);
                atomicAdd(&board.counts[2], (u64)collisions);
            }
            if (done.exceeded) count(work, COUNT_EXCEEDED, done.exceeded);
            if (done.clipped) count(work, COUNT_CLIPPED, done.clipped);
        }
    }
#endif
    sync<THREADS>();
    if (orders.sample) sum_cell<THREADS, CAP>(gas, s.base, s.cap(), n, lane, board.partial, (double*)work.sums + 7 * (size_t)cell);

    // Move. Each warp counts its own particles in each bin, in the order of the slots; those that enter follow.
    const u32 below = (1u << (lane & 31u)) - 1u;
    {
        int at[3];
        unravel(gas, cell, at);
        for (u32 i0 = 0; i0 < slots; i0 += THREADS) {
            const u32 i = i0 + lane;
            u32 word = 31u << 27;
            if (i < n) {
                u32 x, y, z;
                unpack_place(s.low(i), s.high(i), x, y, z);
                const float dx = s.vx(i) * gas.advance[0], dy = s.vy(i) * gas.advance[1], dz = s.vz(i) * gas.advance[2];
                // The comparison is false for what is not a number.
                const bool near = fmaxf(fabsf(dx), fmaxf(fabsf(dy), fabsf(dz))) < 1e9f && dx == dx && dy == dy && dz == dz;
                const int px = (int)x + __float2int_rn(dx), py = (int)y + __float2int_rn(dy), pz = (int)z + __float2int_rn(dz);
                const int ex = px >> PLACE_BITS, ey = py >> PLACE_BITS, ez = pz >> PLACE_BITS;
                const bool inside = (u32)(at[0] + ex) < gas.cells[0] && (u32)(at[1] + ey) < gas.cells[1] &&
                    (u32)(at[2] + ez) < gas.cells[2];
                const u32 distance = (u32)max(abs(ex), max(abs(ey), abs(ez)));
#ifdef WALLS
                const bool free = distance < clear;
#else
                const bool free = true;
#endif
                if (near && inside && free) {
                    const uint2 place = pack_place((u32)px & PLACE_MASK, (u32)py & PLACE_MASK, (u32)pz & PLACE_MASK);
                    s.low(i) = place.x;
                    s.high(i) = place.y;
                    word = (u32)((ez + 1) * 9 + (ey + 1) * 3 + ex + 1) << 27;
                    if (distance > 1)
                        word = ((u32)FAR << 27) | note_far(work, index_of(gas, at[0] + ex, at[1] + ey, at[2] + ez));
                } else {
                    word = move_slowly(gas, work, orders, s.base, s.cap(), i, cell, first + i);
                }
            } else if (i < slots) {
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

    float4* velocity = (float4*)to.velocity;
    uint2* place = (uint2*)to.place;
    u32 far_rank = mine[FAR];
    double energy = 0.0;
    for (u32 i0 = 0; i0 < slots; i0 += THREADS) {
        const u32 i = i0 + lane;
        const u32 word = i < slots ? s.lock(i) : 0xffffffffu;
        const u32 bin = word >> 27;
        u32 index = 0;
        if (bin < FAR) index = first + mine[bin] + (word & 0x7ffffffu);
        const u32 far_lanes = __ballot_sync(FULL_MASK, bin == FAR);
        if (far_lanes) {
            if (bin == FAR) {
                index = first + far_rank + __popc(far_lanes & below);
                const u32 record = word & 0x7ffffffu;
                if (record < work.far_capacity) ((FarRecord*)work.far_records)[record].index = index;
                else atomicOr(&((Control*)work.control)->stalled, STALL_LOST);
            }
            far_rank += __popc(far_lanes);
        }
        if (bin <= FAR) {
            const float vx = s.vx(i), vy = s.vy(i), vz = s.vz(i);
            velocity[index] = make_float4(vx, vy, vz, __uint_as_float(s.tag(i)));
            place[index] = make_uint2(s.low(i), s.high(i));
#ifdef ROTATION
            ((float*)to.rotation)[index] = s.rotation(i);
#endif
            if (orders.energy) energy += (double)(vx * vx + vy * vy + vz * vz);
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

// A kernel for cells of one size class, those with at most CAP particles and at least `low`. Groups of threads take the
// next `TAKE` cells when they are done with theirs, so that none waits for another; the results do not depend on who takes
// what. Without a list, all cells in turn, of which those of other classes are left out.
template <int THREADS, int GROUPS, int CAP, int TAKE>
static __device__ __forceinline__ void step_class(const Gas& gas, const State& from, const State& to, const Work& work,
    const Orders& orders, u32 size_class, u32 listed, u32 low) {
    DYNAMIC_SHARED(memory);
    Control* control = (Control*)work.control;
    if (control->stalled) return;
    const u32 group = THREADS == 32 ? threadIdx.x >> 5 : 0u, lane = THREADS == 32 ? threadIdx.x & 31u : threadIdx.x;
    Board<THREADS>& board = ((Board<THREADS>*)memory)[group];
    const Slots<CAP> s = {(u32*)(memory + sizeof(Board<THREADS>) * GROUPS) + group * (SLOT_WORDS * CAP), CAP};
    const u64 step = control->step;
    const bool far_any = control->far_total[work.parity] != 0;
    if (lane < 4) board.counts[lane] = 0;
    const u32 total = listed ? control->listed[size_class] : gas.cell_count;
    for (;;) {
        if (lane == 0) board.next = atomicAdd(&control->taken[size_class], (u32)TAKE);
        sync<THREADS>();
        const u32 begin = board.next;
        sync<THREADS>();
        if (begin >= total) break;
        for (u32 k = begin; k < begin + TAKE && k < total; k++) {
            const u32 cell = listed ? ((const u32*)work.lists)[(size_t)size_class * gas.cell_count + k] : k;
            const u32 size = ((const u32*)to.offset)[cell + 1] - ((const u32*)to.offset)[cell];
            if (size > CAP || size < low) continue;
            step_cell<THREADS, CAP>(gas, from, to, work, orders, cell, lane, step, far_any, s, board);
        }
    }
    hand_in<THREADS>(work, lane, board);
}

#define STEP_ARGUMENTS PARAM(Gas) gas, PARAM(State) from, PARAM(State) to, PARAM(Work) work, PARAM(Orders) orders, u32 size_class, u32 listed, u32 low
#define STEP_PASS gas, from, to, work, orders, size_class, listed, low
extern "C" __global__ void __launch_bounds__(256, STEP_BLOCKS) step_32(STEP_ARGUMENTS) { step_class<32, 8, CAP_32, 2>(STEP_PASS); }
extern "C" __global__ void __launch_bounds__(64, STEP_BLOCKS * 3) step_64(STEP_ARGUMENTS) { step_class<64, 1, CAP_64, 1>(STEP_PASS); }
extern "C" __global__ void __launch_bounds__(128, STEP_BLOCKS) step_128(STEP_ARGUMENTS) { step_class<128, 1, CAP_128, 1>(STEP_PASS); }
extern "C" __global__ void __launch_bounds__(512, 1) step_512(STEP_ARGUMENTS) { step_class<512, 1, CAP_512, 1>(STEP_PASS); }

// Cells that no block's memory holds: their slots are in global memory.
extern "C" __global__ void __launch_bounds__(512, 1)
step_giant(PARAM(Gas) gas, PARAM(State) from, PARAM(State) to, PARAM(Work) work, PARAM(Orders) orders) {
    DYNAMIC_SHARED(memory);
    Board<512>& board = *(Board<512>*)memory;
    const Control* control = (const Control*)work.control;
    if (control->stalled) return;
    if (threadIdx.x < 4) board.counts[threadIdx.x] = 0;
    __syncthreads();
    const u32 total = control->listed[4];
    for (u32 k = blockIdx.x; k < total; k += gridDim.x) {
        const u32 cell = ((const u32*)work.lists)[(size_t)4 * gas.cell_count + k];
        const u32 size = ((const u32*)to.offset)[cell + 1] - ((const u32*)to.offset)[cell];
        const u32 first = ((const u32*)work.scratch_at)[k];
        const Slots<0> s = {(u32*)work.scratch + (size_t)SLOT_WORDS * first, size};
        step_cell<512, 0>(gas, from, to, work, orders, cell, threadIdx.x, control->step,
            control->far_total[work.parity] != 0, s, board);
    }
    hand_in<512>(work, threadIdx.x, board);
}
