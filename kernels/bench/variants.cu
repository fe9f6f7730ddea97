//! Peers that `knudsen bench seed` measures: the seed's choices (and others) of how to lay out, collide and place particles.
//! Not the product's step, and not reproducible: atomics decide the order. Only walls, gas and inflow of the seed's sphere.
//
// Units: length of a cell 1, time step 1, so a velocity is in cells a step. Gas: VHS with omega = 0.75, one species.
// Compiled once a layout: LAYOUT 0 = six arrays, 1 = records of 24 bytes, 2 = two arrays of three numbers,
// 3 = two arrays of four, 4 = 16 bytes (velocity, and 10 bits a coordinate within the cell).
#ifndef LAYOUT
#define LAYOUT 3
#endif
// A test on the host has its own way to get the shared memory that a launch asks for.
#ifndef DYNAMIC_SHARED
#define DYNAMIC_SHARED(name)                      \
    extern __shared__ float4 shared_at_launch[]; \
    unsigned char *const name = (unsigned char *)shared_at_launch
#endif
typedef unsigned int u32;
typedef unsigned long long u64;
#define ALL 0xffffffffu
#define NONE 0xffffffffu

// ---------------------------------------------------------------- what the host hands over; see variants.rs
struct Setup {
    int cells[3];          // along the axes
    int cell_count;
    int open;              // 1: the sphere in a stream along x; 0: a periodic box at rest
    int particles_a_cell;  // of the undisturbed gas
    u32 seed, step;
    int sample;            // this step's moments are added up
    float spread;          // sqrt(kT/m)
    float drift;           // stream velocity
    float pair_rate;       // of a pair: F_N (sigma c_r)max dt / V
    float accept_squared;  // (sigma c_r / (sigma c_r)max)^2 = accept_squared * c_r
    float center[3], radius, wall_spread, reach;
    u32 overflow_most, heavy_from, capacity;  // capacity: particles of a buffer
};
struct Stats {
    u64 collisions[1024], removed[64], entered[64];
    double particles, momentum[3], energy;
    u32 misplaced, errors, heaviest, overflow_peak;
};
// Particles that found their cell's region full: a list a cell.
struct Overflow {
    float *values;  // six arrays of overflow_most
    u32 *next, *head, *count;
};
struct Buffers {
    float *from, *to;
    const u32 *start;       // of each cell's region in `from`, and the end
    const u32 *count;       // particles of each cell
    const u32 *next_start;  // the same of `to`
    u32 *next_count;
    u32 *key, *rank;        // of each slot: its new cell (NONE: no particle), and its place there
    const u32 *order;       // slots in the order of cells, or null where the slots themselves are in that order
    const u32 *slots;       // in use
    Overflow overflow, next_overflow;
    Stats *stats;
    double *moments;        // five a cell: number, velocity sums, sum of squares
};
static_assert(sizeof(Setup) == 88 && sizeof(Buffers) == 160 && sizeof(Stats) == 9272, "as in layout.rs");

__device__ __forceinline__ u32 cell_at(const Setup &s, int x, int y, int z) {
    return (u32)((z * s.cells[1] + y) * s.cells[0] + x);
}
__device__ __forceinline__ void place_of(const Setup &s, u32 cell, int &x, int &y, int &z) {
    x = (int)(cell % (u32)s.cells[0]);
    const u32 row = cell / (u32)s.cells[0];
    y = (int)(row % (u32)s.cells[1]);
    z = (int)(row / (u32)s.cells[1]);
}

// ---------------------------------------------------------------- random numbers: Philox4x32-10
__device__ __forceinline__ uint4 philox(u32 c0, u32 c1, u32 c2, u32 c3, u32 seed) {
    u32 k0 = seed, k1 = 0x6b6e7564u;
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
enum Purpose { FILL = 1, COUNT, PAIR, SHUFFLE, WALL, INFLOW };
__device__ __forceinline__ uint4 draw(const Setup &s, Purpose purpose, u32 index, u32 number) {
    return philox(index, number, s.step, (u32)purpose, s.seed);
}
// In (0, 1).
__device__ __forceinline__ float uniform(u32 bits) { return ((bits >> 8) + 0.5f) * (1.0f / 16777216.0f); }
__device__ __forceinline__ void turn(u32 bits, float &sine, float &cosine) {
    __sincosf(6.28318530718f * (uniform(bits) - 0.5f), &sine, &cosine);
}
__device__ __forceinline__ float rayleigh(u32 bits) { return sqrtf(-2.0f * __logf(uniform(bits))); }
__device__ __forceinline__ void normal_pair(u32 a, u32 b, float &first, float &second) {
    float sine, cosine;
    turn(b, sine, cosine);
    first = rayleigh(a) * cosine;
    second = rayleigh(a) * sine;
}

// ---------------------------------------------------------------- layouts
struct V3 { float x, y, z; };
struct Particle { V3 r, v; };
#if LAYOUT == 4
#define POSITION_WITHIN_CELL 1
__device__ __forceinline__ u32 fraction_bits(float value) { return (u32)min(max((int)(value * 1024.0f), 0), 1023); }
#endif
__device__ __forceinline__ V3 three(const float *from) { return V3{from[0], from[1], from[2]}; }
__device__ __forceinline__ void three(float *to, V3 a) { to[0] = a.x; to[1] = a.y; to[2] = a.z; }
__device__ __forceinline__ V3 velocity(const Setup &s, const float *base, u32 i) {
    [[maybe_unused]] const u64 n = s.capacity;
#if LAYOUT == 0
    return V3{base[3 * n + i], base[4 * n + i], base[5 * n + i]};
#elif LAYOUT == 1
    return three(base + 6 * (u64)i + 3);
#elif LAYOUT == 2
    return three(base + 3 * (n + i));
#else
    const float4 q = ((const float4 *)base)[LAYOUT == 3 ? n + i : (u64)i];
    return V3{q.x, q.y, q.z};
#endif
}
__device__ __forceinline__ void set_velocity(const Setup &s, float *base, u32 i, V3 v) {
    [[maybe_unused]] const u64 n = s.capacity;
#if LAYOUT == 0
    base[3 * n + i] = v.x; base[4 * n + i] = v.y; base[5 * n + i] = v.z;
#elif LAYOUT == 1
    three(base + 6 * (u64)i + 3, v);
#elif LAYOUT == 2
    three(base + 3 * (n + i), v);
#elif LAYOUT == 3
    ((float4 *)base)[n + i] = make_float4(v.x, v.y, v.z, 0.0f);
#else
    three(base + 4 * (u64)i, v);
#endif
}
// x, y, z: the particle's cell, which only layout 4 needs.
__device__ __forceinline__ Particle load(const Setup &s, const float *base, u32 i, int x, int y, int z) {
    [[maybe_unused]] const u64 n = s.capacity;
#if LAYOUT == 0
    return Particle{V3{base[i], base[n + i], base[2 * n + i]}, velocity(s, base, i)};
#elif LAYOUT == 1
    return Particle{three(base + 6 * (u64)i), velocity(s, base, i)};
#elif LAYOUT == 2
    return Particle{three(base + 3 * (u64)i), velocity(s, base, i)};
#elif LAYOUT == 3
    const float4 p = ((const float4 *)base)[i];
    return Particle{V3{p.x, p.y, p.z}, velocity(s, base, i)};
#else
    const float4 q = ((const float4 *)base)[i];
    const u32 bits = __float_as_uint(q.w);
    const float part = 1.0f / 1024.0f;
    return Particle{V3{x + ((bits & 1023u) + 0.5f) * part, y + (((bits >> 10) & 1023u) + 0.5f) * part,
                       z + ((bits >> 20) + 0.5f) * part},
                    V3{q.x, q.y, q.z}};
#endif
}
#if LAYOUT != 4
__device__ __forceinline__ void set_position(const Setup &s, float *base, u32 i, V3 r) {
#if LAYOUT == 0
    const u64 n = s.capacity;
    base[i] = r.x; base[n + i] = r.y; base[2 * n + i] = r.z;
#elif LAYOUT == 1
    three(base + 6 * (u64)i, r);
#elif LAYOUT == 2
    three(base + 3 * (u64)i, r);
#else
    ((float4 *)base)[i] = make_float4(r.x, r.y, r.z, 0.0f);
#endif
}
#endif
__device__ __forceinline__ void store(const Setup &s, float *base, u32 i, int x, int y, int z, const Particle &p) {
#if LAYOUT == 4
    const u32 bits =
        fraction_bits(p.r.x - x) | (fraction_bits(p.r.y - y) << 10) | (fraction_bits(p.r.z - z) << 20);
    ((float4 *)base)[i] = make_float4(p.v.x, p.v.y, p.v.z, __uint_as_float(bits));
#else
    set_position(s, base, i, p.r);
    set_velocity(s, base, i, p.v);
#endif
}

// ---------------------------------------------------------------- physics
__device__ __forceinline__ bool near_sphere(const Setup &s, int x, int y, int z) {
    if (!s.open) return false;
    const float a = x + 0.5f - s.center[0], b = y + 0.5f - s.center[1], c = z + 0.5f - s.center[2];
    const float distance = s.radius + s.reach;
    return a * a + b * b + c * c < distance * distance;
}
// Flies one step; the sphere sends back diffusely, once a step (as in the seed). False: it left. (x, y, z): its cell before
// a periodic face brought it back, (wx, wy, wz) after.
__device__ __forceinline__ bool fly(const Setup &s, bool near, Particle &p, u32 index, u32 number, int &x, int &y, int &z,
                                    int &wx, int &wy, int &wz) {
    V3 r = p.r, v = p.v, to = V3{r.x + v.x, r.y + v.y, r.z + v.z};
    if (near) {
        const V3 d = V3{r.x - s.center[0], r.y - s.center[1], r.z - s.center[2]};
        const float a = v.x * v.x + v.y * v.y + v.z * v.z, b = d.x * v.x + d.y * v.y + d.z * v.z;
        const float c = d.x * d.x + d.y * d.y + d.z * d.z - s.radius * s.radius, root = b * b - a * c;
        const float time = b < 0.0f && root > 0.0f ? fmaxf((-b - sqrtf(root)) / a, 0.0f) : 2.0f;
        if (time <= 1.0f) {
            V3 n = V3{d.x + time * v.x, d.y + time * v.y, d.z + time * v.z};
            const float scale = rsqrtf(n.x * n.x + n.y * n.y + n.z * n.z);
            n = V3{n.x * scale, n.y * scale, n.z * scale};
            V3 t = fabsf(n.x) < 0.9f ? V3{0.0f, -n.z, n.y} : V3{-n.y, n.x, 0.0f};
            const float length = rsqrtf(t.x * t.x + t.y * t.y + t.z * t.z);
            t = V3{t.x * length, t.y * length, t.z * length};
            const V3 u = V3{n.y * t.z - n.z * t.y, n.z * t.x - n.x * t.z, n.x * t.y - n.y * t.x};
            const uint4 bits = draw(s, WALL, index, number);
            float along, across;
            normal_pair(bits.x, bits.y, along, across);
            along *= s.wall_spread;
            across *= s.wall_spread;
            const float away = s.wall_spread * rayleigh(bits.z), rest = 1.0f - time, out = s.radius * 1.00001f;
            v = V3{along * t.x + across * u.x + away * n.x, along * t.y + across * u.y + away * n.y,
                   along * t.z + across * u.z + away * n.z};
            to = V3{s.center[0] + n.x * out + rest * v.x, s.center[1] + n.y * out + rest * v.y,
                    s.center[2] + n.z * out + rest * v.z};
        }
    }
    const float size[3] = {(float)s.cells[0], (float)s.cells[1], (float)s.cells[2]};
    x = __float2int_rd(to.x);
    y = __float2int_rd(to.y);
    z = __float2int_rd(to.z);
    wx = x; wy = y; wz = z;
    if (s.open) {
        if (!(to.x >= 0.0f && to.x < size[0] && to.y >= 0.0f && to.y < size[1] && to.z >= 0.0f && to.z < size[2]))
            return false;
    } else {
        float *value[3] = {&to.x, &to.y, &to.z};
        int *cell[3] = {&wx, &wy, &wz};
#pragma unroll
        for (int k = 0; k < 3; k++) {
            const int shift = *cell[k] < 0 ? s.cells[k] : *cell[k] >= s.cells[k] ? -s.cells[k] : 0;
            *cell[k] += shift;
            // Rounding may lift a value just below 0 to the upper end.
            if (shift) *value[k] = fminf(*value[k] + (float)shift, size[k] * 0.9999999f);
        }
    }
    p = Particle{to, v};
    return true;
}
// Collides a pair with probability c * sqrt(c_r), c squared given; Bird (1994), section 2.6, isotropic.
__device__ __forceinline__ bool collide(float squared, u32 accept, u32 angles, V3 &a, V3 &b) {
    const V3 d = V3{b.x - a.x, b.y - a.y, b.z - a.z};
    const float speed = sqrtf(d.x * d.x + d.y * d.y + d.z * d.z), u = uniform(accept);
    if (!(u * u < squared * speed)) return false;
    const float cosine = ((angles & 0xffffu) + 0.5f) * (2.0f / 65536.0f) - 1.0f;
    const float sine = sqrtf(1.0f - cosine * cosine), half = 0.5f * speed;
    float s, c;
    __sincosf((((angles >> 16) + 0.5f) * (1.0f / 65536.0f) - 0.5f) * 6.28318530718f, &s, &c);
    const V3 e = V3{half * cosine, half * sine * c, half * sine * s};
    const V3 m = V3{0.5f * (a.x + b.x), 0.5f * (a.y + b.y), 0.5f * (a.z + b.z)};
    a = V3{m.x + e.x, m.y + e.y, m.z + e.z};
    b = V3{m.x - e.x, m.y - e.y, m.z - e.z};
    return true;
}
// No-Time-Counter: candidates of a cell, rounded at random so that their mean is right. Bird (1994), section 11.1.
__device__ __forceinline__ u32 candidates(const Setup &s, u32 cell, u32 n) {
    const float wanted = n > 1 ? 0.5f * (float)n * ((float)n - 1.0f) * s.pair_rate : 0.0f;
    const u32 whole = (u32)wanted;
    return whole + (uniform(draw(s, COUNT, cell, 0).x) < wanted - (float)whole ? 1u : 0u);
}
__device__ __forceinline__ uint4 candidate(const Setup &s, u32 cell, u32 number, u32 n, u32 &i, u32 &j) {
    const uint4 bits = draw(s, PAIR, cell, number);
    i = __umulhi(bits.x, n);
    j = __umulhi(bits.y, n - 1u);
    j += j >= i;
    return bits;
}
// A random permutation without memory: a keyed four-round Feistel network on 2 * half bits, walked until below n.
__device__ __forceinline__ u32 permuted(u32 i, u32 n, u32 half, uint4 keys) {
    const u32 mask = (1u << half) - 1u;
    const u32 key[4] = {keys.x, keys.y, keys.z, keys.w};
    do {
        u32 left = i >> half, right = i & mask;
#pragma unroll
        for (int round = 0; round < 4; round++) {
            u32 mixed = (right ^ key[round]) * 0x9E3779B1u;
            mixed = (mixed ^ (mixed >> 15)) * 0x85EBCA77u;
            const u32 next = left ^ ((mixed ^ (mixed >> 13)) & mask);
            left = right;
            right = next;
        }
        i = (left << half) | right;
    } while (i >= n);
    return i;
}

// ---------------------------------------------------------------- threads that share a cell: a warp, or a whole block
template <int THREADS> struct Team {
    __device__ __forceinline__ static void sync() {
        if (THREADS == 32) __syncwarp();
        else __syncthreads();
    }
    __device__ __forceinline__ static bool any(bool mine) {
        if (THREADS != 32) return __syncthreads_or(mine);
        const bool one = __any_sync(ALL, mine);
        __syncwarp();
        return one;
    }
};
// The place of this lane's item in its bin, by one atomic a bin and warp. All lanes of the warp must call.
__device__ __forceinline__ u32 rank_in(u32 *bins, u32 bin, bool mine) {
    const u32 lane = threadIdx.x & 31u, same = __match_any_sync(ALL, mine ? bin : NONE);
    const int leader = __ffs(same) - 1;
    u32 base = 0;
    if (mine && (int)lane == leader) base = atomicAdd(&bins[bin], (u32)__popc(same));
    return __shfl_sync(ALL, base, leader) + (u32)__popc(same & ((1u << lane) - 1u));
}
__device__ __forceinline__ float warp_sum(float value) {
    for (int d = 16; d; d >>= 1) value += __shfl_xor_sync(ALL, value, d);
    return value;
}
__device__ __forceinline__ double warp_sum(double value) {
    for (int d = 16; d; d >>= 1) value += __shfl_xor_sync(ALL, value, d);
    return value;
}
__device__ __forceinline__ void count_collisions(const Buffers &b, u32 cell, u32 mine) {
    for (int d = 16; d; d >>= 1) mine += __shfl_xor_sync(ALL, mine, d);
    if ((threadIdx.x & 31u) == 0 && mine) atomicAdd(&b.stats->collisions[cell & 1023u], (u64)mine);
}
__device__ __forceinline__ void add_moments(const Buffers &b, u32 cell, u32 n, bool first, V3 sum, float squares) {
    const float values[4] = {warp_sum(sum.x), warp_sum(sum.y), warp_sum(sum.z), warp_sum(squares)};
    double *to = b.moments + 5 * (u64)cell;
    if (first) to[0] += n;
    if ((threadIdx.x & 31u) == 0)
        for (int k = 0; k < 4; k++) atomicAdd(&to[1 + k], (double)values[k]);
}
// Particles that a cell's region holds: none behind the end of the buffer.
__device__ __forceinline__ u32 region_of(const Setup &s, const u32 *start, u32 cell) {
    const u32 begin = min(start[cell], s.capacity), end = min(start[cell + 1], s.capacity);
    return end - begin;
}
// Puts a particle to place `rank` of its cell's region of `to`; a full region's list takes the rest.
__device__ __forceinline__ void settle(const Setup &s, const Buffers &b, u32 cell, u32 rank, int x, int y, int z,
                                       const Particle &p) {
    if (rank < region_of(s, b.next_start, cell)) {
        store(s, b.to, b.next_start[cell] + rank, x, y, z, p);
        return;
    }
    const u32 entry = atomicAdd(b.next_overflow.count, 1u);
    if (entry >= s.overflow_most) {
        atomicAdd(&b.stats->errors, 1u);
        return;
    }
    const float values[6] = {p.r.x, p.r.y, p.r.z, p.v.x, p.v.y, p.v.z};
    for (int k = 0; k < 6; k++) b.next_overflow.values[k * (u64)s.overflow_most + entry] = values[k];
    b.next_overflow.next[entry] = atomicExch(&b.next_overflow.head[cell], entry);
}
__device__ __forceinline__ Particle listed(const Setup &s, const Overflow &list, u32 entry) {
    const float *at = list.values + entry;
    const u64 n = s.overflow_most;
    return Particle{V3{at[0], at[n], at[2 * n]}, V3{at[3 * n], at[4 * n], at[5 * n]}};
}
