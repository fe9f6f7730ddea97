//! Peers of one kernel a step: collide, sample, move, place; and what all peers need: inflow, filling, checks.
//! `variants.cu` stands before. Must not know the product's step.

// ---------------------------------------------------------------- inflow: the flux of a drifting Maxwellian
// `front` particles through x = 0, `side` through each of the four faces along the stream. What enters through the fifth, against
// speed ratio 3.65, is left out. direct: into the regions of `to`; else behind the slots in use.
extern "C" __global__ void inflow(Setup s, Buffers b, u32 front, u32 side, int direct) {
    const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
    const bool is = t < front + 4u * side;
    const uint4 a = draw(s, INFLOW, t, 0), c = draw(s, INFLOW, t, 1);
    const float flown = uniform(c.z), first = uniform(a.z), second = uniform(a.w);
    const float nx = (float)s.cells[0], ny = (float)s.cells[1], nz = (float)s.cells[2];
    float g, h;
    normal_pair(a.x, a.y, g, h);
    Particle p;
    if (t < front) {
        // Rejection against the fastest: a normal velocity with density ~ u exp(-(u - drift)^2 / 2 spread^2).
        const float most = s.drift + 6.0f * s.spread;
        float u = s.drift;
        for (u32 k = 2; k < 64; k++) {
            const uint4 bits = draw(s, INFLOW, t, k);
            float one, other;
            normal_pair(bits.x, bits.y, one, other);
            u = s.drift + s.spread * one;
            if (u > 0.0f && uniform(bits.z) * most < u) break;
            u = s.drift + s.spread * other;
            if (u > 0.0f && uniform(bits.w) * most < u) break;
            u = s.drift;
        }
        p.v = V3{u, s.spread * g, s.spread * h};
        p.r = V3{u * flown, first * ny + p.v.y * flown, second * nz + p.v.z * flown};
    } else {
        const u32 face = (t - front) / max(side, 1u);
        const float inward = s.spread * rayleigh(c.x), along = s.spread * h;
        const float normal = face & 1u ? -inward : inward, from = face & 1u ? 1.0f : 0.0f;
        p.v.x = s.drift + s.spread * g;
        p.r.x = first * nx + p.v.x * flown;
        if (face < 2u) {
            p.v.y = normal;
            p.v.z = along;
            p.r.y = from * ny + normal * flown;
            p.r.z = second * nz + along * flown;
        } else {
            p.v.z = normal;
            p.v.y = along;
            p.r.z = from * nz + normal * flown;
            p.r.y = second * ny + along * flown;
        }
    }
    // What starts outside, at an edge, has flown past the face next to it.
    const bool inside = is && p.r.x >= 0.0f && p.r.x < nx && p.r.y >= 0.0f && p.r.y < ny && p.r.z >= 0.0f && p.r.z < nz;
    const u32 all = __ballot_sync(ALL, inside);
    if ((threadIdx.x & 31u) == 0 && all) atomicAdd(&b.stats->entered[blockIdx.x & 63u], (u64)__popc(all));
    const int x = (int)p.r.x, y = (int)p.r.y, z = (int)p.r.z;
    const u32 cell = inside ? cell_at(s, x, y, z) : NONE;
    const u32 rank = inside ? atomicAdd(&b.next_count[cell], 1u) : 0u;
    if (direct) {
        if (inside) settle(s, b, cell, rank, x, y, z, p);
    } else if (is) {
        const u32 i = *b.slots + t;
        if (i >= s.capacity) {
            atomicAdd(&b.stats->errors, 1u);
            return;
        }
        b.key[i] = cell;
        b.rank[i] = rank;
        if (inside) store(s, b.from, i, x, y, z, p);
    }
}

// ---------------------------------------------------------------- all in one: collide, sample, move, place
// A warp (eight to a block) or a block takes a cell into shared memory: 28 bytes a particle, `most` a cell. Cells with
// `above` < particles <= most are taken from the list, or all are looked at if there is none.
template <int THREADS>
__device__ __forceinline__ void fused(const Setup &s, const Buffers &b, const u32 *list, const u32 *listed_count, u32 above,
                                      u32 most, float *raw) {
    const u32 teams = THREADS == 32 ? 8u : 1u, team = THREADS == 32 ? threadIdx.x >> 5 : 0u;
    const u32 lane = THREADS == 32 ? threadIdx.x & 31u : threadIdx.x;
    float *held[6];
    for (int k = 0; k < 6; k++) held[k] = raw + team * (7u * most + 64u) + k * most;
    u32 *lock = (u32 *)(held[5] + most), *bins = lock + most, *base = bins + 32;
    const u32 end = list ? *listed_count : (u32)s.cell_count;
    for (u32 taken = blockIdx.x * teams + team; taken < end; taken += gridDim.x * teams) {
        const u32 c = list ? list[taken] : taken, n = b.count[c];
        if (n <= above || n > most) {
            // 256 threads take the heaviest; there is nobody behind them.
            if (THREADS == 256 && list && n > most && lane == 0) atomicAdd(&b.stats->errors, 1u);
            continue;
        }
        int ix, iy, iz;
        place_of(s, c, ix, iy, iz);
        const u32 start = b.start[c], region = min(n, region_of(s, b.start, c));
        for (u32 i = lane; i < region; i += THREADS) {
            const Particle p = load(s, b.from, start + i, ix, iy, iz);
            held[0][i] = p.r.x; held[1][i] = p.r.y; held[2][i] = p.r.z;
            held[3][i] = p.v.x; held[4][i] = p.v.y; held[5][i] = p.v.z;
            lock[i] = NONE;
        }
        if (lane < 32) bins[lane] = 0;
        if (region < n && lane == 0) {
            u32 entry = b.overflow.head[c], i = region;
            for (; i < n && entry != NONE; i++, entry = b.overflow.next[entry]) {
                const Particle p = listed(s, b.overflow, entry);
                held[0][i] = p.r.x; held[1][i] = p.r.y; held[2][i] = p.r.z;
                held[3][i] = p.v.x; held[4][i] = p.v.y; held[5][i] = p.v.z;
                lock[i] = NONE;
            }
            if (i < n || entry != NONE) atomicAdd(&b.stats->errors, 1u);
        }
        Team<THREADS>::sync();
        u32 collisions = 0;
        const u32 tries = candidates(s, c, n);
        for (u32 m0 = 0; m0 < tries; m0 += THREADS) {
            const u32 m = m0 + lane;
            bool waits = m < tries;
            u32 i = 0, j = 0;
            uint4 bits = make_uint4(0, 0, 0, 0);
            if (waits) bits = candidate(s, c, m, n, i, j);
            do {
                if (waits) {
                    atomicMin(&lock[i], m);
                    atomicMin(&lock[j], m);
                }
                Team<THREADS>::sync();
                const bool wins = waits && lock[i] == m && lock[j] == m;
                Team<THREADS>::sync();
                if (waits) lock[i] = lock[j] = NONE;
                if (wins) {
                    V3 v = V3{held[3][i], held[4][i], held[5][i]}, w = V3{held[3][j], held[4][j], held[5][j]};
                    if (collide(s.accept_squared, bits.z, bits.w, v, w)) {
                        held[3][i] = v.x; held[4][i] = v.y; held[5][i] = v.z;
                        held[3][j] = w.x; held[4][j] = w.y; held[5][j] = w.z;
                        collisions++;
                    }
                    waits = false;
                }
            } while (Team<THREADS>::any(waits));
        }
        count_collisions(b, c, collisions);
        if (s.sample) {
            V3 sum = V3{0.0f, 0.0f, 0.0f};
            float squares = 0.0f;
            for (u32 i = lane; i < n; i += THREADS) {
                const V3 v = V3{held[3][i], held[4][i], held[5][i]};
                sum = V3{sum.x + v.x, sum.y + v.y, sum.z + v.z};
                squares += v.x * v.x + v.y * v.y + v.z * v.z;
            }
            add_moments(b, c, n, lane == 0, sum, squares);
        }
        // Bins: 27 neighbours, 27 = left, 28 = farther than a neighbour.
        const bool near = near_sphere(s, ix, iy, iz);
        for (u32 i0 = 0; i0 < n; i0 += THREADS) {
            const u32 i = i0 + lane;
            u32 bin = 31, rank = 0;
            if (i < n) {
                Particle p = Particle{V3{held[0][i], held[1][i], held[2][i]}, V3{held[3][i], held[4][i], held[5][i]}};
                int x, y, z, wx, wy, wz;
                bin = 27;
                if (fly(s, near, p, c, i, x, y, z, wx, wy, wz)) {
                    held[0][i] = p.r.x; held[1][i] = p.r.y; held[2][i] = p.r.z;
                    held[3][i] = p.v.x; held[4][i] = p.v.y; held[5][i] = p.v.z;
                    const int dx = x - ix + 1, dy = y - iy + 1, dz = z - iz + 1;
                    bin = dx >= 0 && dx < 3 && dy >= 0 && dy < 3 && dz >= 0 && dz < 3 ? (u32)(dz * 9 + dy * 3 + dx) : 28u;
                    if (bin == 28u) rank = atomicAdd(&b.next_count[cell_at(s, wx, wy, wz)], 1u);
                }
            }
            const u32 shared_rank = rank_in(bins, bin, bin < 28u);
            if (i < n) lock[i] = (bin << 27) | (bin == 28u ? rank : shared_rank);
        }
        Team<THREADS>::sync();
        if (lane < 28u && bins[lane]) {
            if (lane == 27u) {
                atomicAdd(&b.stats->removed[c & 63u], (u64)bins[27]);
            } else {
                int at[3] = {ix + (int)(lane % 3u) - 1, iy + (int)(lane / 3u % 3u) - 1, iz + (int)(lane / 9u) - 1};
                for (int k = 0; k < 3; k++) at[k] += at[k] < 0 ? s.cells[k] : at[k] >= s.cells[k] ? -s.cells[k] : 0;
                base[lane] = atomicAdd(&b.next_count[cell_at(s, at[0], at[1], at[2])], bins[lane]);
            }
        }
        Team<THREADS>::sync();
        for (u32 i = lane; i < n; i += THREADS) {
            const u32 bin = lock[i] >> 27, rank = lock[i] & 0x7ffffffu;
            if (bin == 27u) continue;
            const Particle p = Particle{V3{held[0][i], held[1][i], held[2][i]}, V3{held[3][i], held[4][i], held[5][i]}};
            const int x = (int)p.r.x, y = (int)p.r.y, z = (int)p.r.z;
            settle(s, b, cell_at(s, x, y, z), bin == 28u ? rank : base[bin] + rank, x, y, z, p);
        }
        Team<THREADS>::sync();
    }
}
// The blocks that fit a large multiprocessor by their shared memory, so that registers do not keep them out.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define BOUNDS(block, blocks) __launch_bounds__(block, blocks)
#else
#define BOUNDS(block, blocks) __launch_bounds__(block)
#endif
#define FUSED(name, threads, block, blocks_a_multiprocessor)                                                            \
    extern "C" __global__ void BOUNDS(block, blocks_a_multiprocessor)                                                   \
        name(Setup s, Buffers b, const u32 *list, const u32 *listed_count, u32 above, u32 most) {                       \
        DYNAMIC_SHARED(raw);                                                                                            \
        fused<threads>(s, b, list, listed_count, above, most, (float *)raw);                                            \
    }
FUSED(fused_32, 32, 256, 5)
FUSED(fused_64, 64, 64, 18)
FUSED(fused_128, 128, 128, 9)
FUSED(fused_256, 256, 256, 3)

// ---------------------------------------------------------------- start and check; a block a cell
// Fills the cells evenly; stores_them 0: only counts.
extern "C" __global__ void fill_cells(Setup s, Buffers b, int stores_them) {
    const u32 c = blockIdx.x;
    int x, y, z;
    place_of(s, c, x, y, z);
    for (u32 i = threadIdx.x; i < (u32)s.particles_a_cell; i += blockDim.x) {
        const uint4 a = draw(s, FILL, c, 2u * i), d = draw(s, FILL, c, 2u * i + 1u);
        float g, h, k, unused;
        normal_pair(d.x, d.y, g, h);
        normal_pair(d.z, d.w, k, unused);
        const Particle p = Particle{V3{x + uniform(a.x) * 0.9999f, y + uniform(a.y) * 0.9999f, z + uniform(a.z) * 0.9999f},
                                    V3{s.drift + s.spread * g, s.spread * h, s.spread * k}};
        const float u = p.r.x - s.center[0], v = p.r.y - s.center[1], w = p.r.z - s.center[2];
        if (s.open && u * u + v * v + w * w <= s.radius * s.radius) continue;
        const u32 rank = atomicAdd(&b.next_count[c], 1u);
        if (stores_them) store(s, b.to, b.next_start[c] + rank, x, y, z, p);
    }
}
// Particles, momentum and energy; those not in the cell they are listed in, or within the sphere.
extern "C" __global__ void check_cells(Setup s, Buffers b) {
    const u32 c = blockIdx.x, n = b.count[c], start = b.start[c];
    const u32 region = b.overflow.head ? min(n, region_of(s, b.start, c)) : n;
    int x, y, z;
    place_of(s, c, x, y, z);
    double energy = 0.0, sum[3] = {0.0, 0.0, 0.0};
    u32 misplaced = 0;
    for (u32 i = threadIdx.x; i < n; i += blockDim.x) {
        Particle p;
        if (i < region) {
            p = load(s, b.from, slot_of(b, start + i), x, y, z);
        } else {
            u32 entry = b.overflow.head[c];
            for (u32 k = region; k < i && entry != NONE; k++) entry = b.overflow.next[entry];
            if (entry == NONE) {
                misplaced++;
                continue;
            }
            p = listed(s, b.overflow, entry);
        }
        energy += 0.5 * ((double)p.v.x * p.v.x + (double)p.v.y * p.v.y + (double)p.v.z * p.v.z);
        sum[0] += p.v.x;
        sum[1] += p.v.y;
        sum[2] += p.v.z;
        const float u = p.r.x - s.center[0], v = p.r.y - s.center[1], w = p.r.z - s.center[2];
        // Layout 4 knows a place to a thousandth of a cell.
        if ((int)p.r.x != x || (int)p.r.y != y || (int)p.r.z != z) misplaced++;
        else if (s.open && sqrtf(u * u + v * v + w * w) < s.radius - 0.01f) misplaced++;
    }
    energy = warp_sum(energy);
    for (int k = 0; k < 3; k++) sum[k] = warp_sum(sum[k]);
    if ((threadIdx.x & 31u) == 0) {
        atomicAdd(&b.stats->energy, energy);
        for (int k = 0; k < 3; k++) atomicAdd(&b.stats->momentum[k], sum[k]);
    }
    if (misplaced) atomicAdd(&b.stats->misplaced, misplaced);
    if (threadIdx.x == 0) {
        atomicAdd(&b.stats->particles, (double)n);
        atomicMax(&b.stats->heaviest, n);
    }
}
