//! Peers with a kernel a phase: scan, collide by threads or from a queue, move, place by sorting. `variants.cu` stands before.
//! Must not know the product's step.

// ---------------------------------------------------------------- exclusive scan of the counts, 1024 a block
// Regions with room to grow hold six standard deviations more, or a quarter.
__device__ __forceinline__ u32 room(u32 n, int slack) {
    if (!slack) return n;
    const u32 deviations = (u32)(6.0f * sqrtf((float)n)) + 8u, quarter = n >> 2;
    return (n + max(deviations, quarter) + 7u) & ~7u;
}
// Inclusive sum over the block (1024 threads); `total` of all.
__device__ __forceinline__ u32 block_scan(u32 value, u32 *held, u32 &total) {
    const int t = (int)threadIdx.x;
    held[t] = value;
    __syncthreads();
    for (int d = 1; d < (int)blockDim.x; d <<= 1) {
        const u32 other = t >= d ? held[t - d] : 0u;
        __syncthreads();
        held[t] += other;
        __syncthreads();
    }
    const u32 sum = held[t];
    total = held[blockDim.x - 1];
    __syncthreads();
    return sum;
}
extern "C" __global__ void scan_blocks(const u32 *count, u32 *start, u32 *sums, int cells, int slack) {
    DYNAMIC_SHARED(raw);
    const int c = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const u32 mine = c < cells ? room(count[c], slack) : 0u;
    u32 total;
    const u32 sum = block_scan(mine, (u32 *)raw, total);
    if (c <= cells) start[c] = sum - mine;
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}
extern "C" __global__ void scan_sums(u32 *sums, int blocks) {
    DYNAMIC_SHARED(raw);
    u32 before = 0;
    for (int b0 = 0; b0 < blocks; b0 += (int)blockDim.x) {
        const int b = b0 + (int)threadIdx.x;
        const u32 mine = b < blocks ? sums[b] : 0u;
        u32 total;
        const u32 sum = block_scan(mine, (u32 *)raw, total);
        if (b < blocks) sums[b] = before + sum - mine;
        before += total;
    }
}
extern "C" __global__ void scan_add(u32 *start, const u32 *sums, int cells) {
    const int c = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (c <= cells) start[c] += sums[blockIdx.x];
}

// ---------------------------------------------------------------- before a step
// 256 classes of cells, the heaviest first.
__device__ __forceinline__ u32 weight_class(const Setup &s, u32 n) {
    return 255u - min(n * 16u / (u32)s.particles_a_cell, 255u);
}
// Empties the next counts and lists. classes: how many cells are in each class, if wanted; list: cells with more than
// `limit` particles, if wanted. Both start from zeros.
extern "C" __global__ void prepare(Setup s, Buffers b, u32 *classes, u32 *list, u32 *listed_count, u32 limit) {
    const u32 c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c == 0 && b.next_overflow.count) {
        b.stats->overflow_peak = max(b.stats->overflow_peak, *b.next_overflow.count);
        *b.next_overflow.count = 0;
    }
    const bool is = c < (u32)s.cell_count;
    const u32 n = is ? b.count[c] : 0u;
    if (is) {
        b.next_count[c] = 0;
        if (b.next_overflow.head) b.next_overflow.head[c] = NONE;
    }
    if (classes) rank_in(classes, weight_class(s, n), is && n > 0);
    if (list && n > limit) list[atomicAdd(listed_count, 1u)] = c;
}
// Lists the cells with particles by class; cursor: 256 zeros. 256 threads a block.
extern "C" __global__ void heaviest_first(Setup s, Buffers b, const u32 *classes, u32 *cursor, u32 *list, u32 *listed_count) {
    DYNAMIC_SHARED(raw);
    u32 *begin = (u32 *)raw, total;
    const u32 sum = block_scan(classes[threadIdx.x], begin, total);
    begin[threadIdx.x] = sum - classes[threadIdx.x];
    __syncthreads();
    const u32 c = blockIdx.x * blockDim.x + threadIdx.x;
    const u32 n = c < (u32)s.cell_count ? b.count[c] : 0u, k = weight_class(s, n);
    const u32 rank = rank_in(cursor, k, n > 0);
    if (n > 0) list[begin[k] + rank] = c;
    if (c == 0) *listed_count = total;
}

// ---------------------------------------------------------------- collisions apart from the move
__device__ __forceinline__ u32 slot_of(const Buffers &b, u32 i) { return b.order ? b.order[i] : i; }

// The seed's light cells: No-Time-Counter, a thread a cell.
extern "C" __global__ void collide_threads(Setup s, Buffers b) {
    const u32 c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= (u32)s.cell_count) return;
    const u32 n = b.count[c], start = b.start[c], tries = candidates(s, c, n);
    u32 collisions = 0;
    for (u32 m = 0; m < tries; m++) {
        u32 i, j;
        const uint4 bits = candidate(s, c, m, n, i, j);
        i = slot_of(b, start + i);
        j = slot_of(b, start + j);
        V3 v = velocity(s, b.from, i), w = velocity(s, b.from, j);
        if (!collide(s.accept_squared, bits.z, bits.w, v, w)) continue;
        set_velocity(s, b.from, i, v);
        set_velocity(s, b.from, j, w);
        collisions++;
    }
    if (collisions) atomicAdd(&b.stats->collisions[c & 1023u], (u64)collisions);
    if (!s.sample) return;
    double *to = b.moments + 5 * (u64)c;
    V3 sum = V3{0.0f, 0.0f, 0.0f};
    float squares = 0.0f;
    for (u32 i = 0; i < n; i++) {
        const V3 v = velocity(s, b.from, slot_of(b, start + i));
        sum = V3{sum.x + v.x, sum.y + v.y, sum.z + v.z};
        squares += v.x * v.x + v.y * v.y + v.z * v.z;
    }
    to[0] += n;
    to[1] += sum.x;
    to[2] += sum.y;
    to[3] += sum.z;
    to[4] += squares;
}
// Half-Split-Shuffle of a cell by a warp: disjoint pairs of a random permutation, passes until one is a small change.
__device__ __forceinline__ u32 half_split(const Setup &s, const Buffers &b, u32 c, u32 n, u32 start) {
    const float partners = (float)(n & 1u ? n : n - 1u) * s.pair_rate;
    // At most 0.05 collisions a particle and pass: 0.4 is the share of candidates accepted behind the shock.
    const u32 passes = (u32)(partners * 8.0f) + 1u, lane = threadIdx.x & 31u;
    const float part = partners / (float)passes, squared = part * part * s.accept_squared;
    u32 half = 1, collisions = 0;
    while ((1u << (2u * half)) < n) half++;
    for (u32 pass = 0; pass < passes; pass++) {
        const uint4 keys = draw(s, SHUFFLE, c, pass);
        for (u32 k = lane; k < n / 2u; k += 32u) {
            const u32 i = slot_of(b, start + permuted(2u * k, n, half, keys));
            const u32 j = slot_of(b, start + permuted(2u * k + 1u, n, half, keys));
            const uint4 bits = draw(s, PAIR, c, pass * 65536u + k);
            V3 v = velocity(s, b.from, i), w = velocity(s, b.from, j);
            if (!collide(squared, bits.z, bits.w, v, w)) continue;
            set_velocity(s, b.from, i, v);
            set_velocity(s, b.from, j, w);
            collisions++;
        }
        __syncwarp();
    }
    return collisions;
}
// Warps take cells from a queue, the heaviest first: No-Time-Counter, from `heavy_from` particles on Half-Split-Shuffle.
// Candidates go in parallel: one waits while a lower one of the batch shares a lock, so all is as if done in order.
extern "C" __global__ void collide_queue(Setup s, Buffers b, const u32 *list, const u32 *listed_count, u32 *queue) {
    DYNAMIC_SHARED(raw);
    const u32 locks = 256, lane = threadIdx.x & 31u;
    u32 *lock = (u32 *)raw + (threadIdx.x >> 5) * locks;
    for (u32 k = lane; k < locks; k += 32u) lock[k] = NONE;
    __syncwarp();
    for (;;) {
        u32 taken = 0;
        if (lane == 0) taken = atomicAdd(queue, 1u);
        taken = __shfl_sync(ALL, taken, 0);
        if (taken >= *listed_count) return;
        const u32 c = list[taken], n = b.count[c], start = b.start[c];
        u32 collisions = 0;
        if (n >= s.heavy_from && n > 1u) {
            collisions = half_split(s, b, c, n, start);
        } else {
            const u32 tries = candidates(s, c, n);
            for (u32 m0 = 0; m0 < tries; m0 += 32u) {
                const u32 m = m0 + lane;
                bool waits = m < tries;
                u32 i = 0, j = 0;
                uint4 bits = make_uint4(0, 0, 0, 0);
                if (waits) bits = candidate(s, c, m, n, i, j);
                u32 *first = &lock[i & (locks - 1u)], *second = &lock[j & (locks - 1u)];
                do {
                    if (waits) {
                        atomicMin(first, m);
                        atomicMin(second, m);
                    }
                    __syncwarp();
                    const bool wins = waits && *first == m && *second == m;
                    __syncwarp();
                    if (waits) *first = *second = NONE;
                    if (wins) {
                        const u32 p = slot_of(b, start + i), q = slot_of(b, start + j);
                        V3 v = velocity(s, b.from, p), w = velocity(s, b.from, q);
                        if (collide(s.accept_squared, bits.z, bits.w, v, w)) {
                            set_velocity(s, b.from, p, v);
                            set_velocity(s, b.from, q, w);
                            collisions++;
                        }
                        waits = false;
                    }
                } while (Team<32>::any(waits));
            }
        }
        count_collisions(b, c, collisions);
        if (s.sample) {
            V3 sum = V3{0.0f, 0.0f, 0.0f};
            float squares = 0.0f;
            for (u32 i = lane; i < n; i += 32u) {
                const V3 v = velocity(s, b.from, slot_of(b, start + i));
                sum = V3{sum.x + v.x, sum.y + v.y, sum.z + v.z};
                squares += v.x * v.x + v.y * v.y + v.z * v.z;
            }
            add_moments(b, c, n, lane == 0, sum, squares);
        }
        __syncwarp();
    }
}

// ---------------------------------------------------------------- move, and place by sorting
#ifndef POSITION_WITHIN_CELL
extern "C" __global__ void move_slots(Setup s, Buffers b) {
    const u32 slots = *b.slots, stride = gridDim.x * blockDim.x;
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; (i & ~31u) < slots; i += stride) {
        // Without a sort in memory the slots of those that left stay empty.
        const bool is = i < slots && !(b.order && b.key[i] == NONE);
        bool alive = false;
        u32 cell = NONE;
        if (is) {
            Particle p = load(s, b.from, i, 0, 0, 0);
            const V3 v = p.v;
            int x, y, z, wx, wy, wz;
            const bool near = near_sphere(s, (int)p.r.x, (int)p.r.y, (int)p.r.z);
            alive = fly(s, near, p, i, 0x80000000u, x, y, z, wx, wy, wz);
            if (alive) {
                cell = cell_at(s, wx, wy, wz);
                set_position(s, b.from, i, p.r);
                if (p.v.x != v.x || p.v.y != v.y || p.v.z != v.z) set_velocity(s, b.from, i, p.v);
            } else {
                atomicAdd(&b.stats->removed[i & 63u], (u64)1);
            }
        }
        const u32 rank = rank_in(b.next_count, cell, alive);
        if (i < slots) {
            b.key[i] = cell;
            b.rank[i] = rank;
        }
    }
}
extern "C" __global__ void place_particles(Setup s, Buffers b) {
    const u32 slots = *b.slots, stride = gridDim.x * blockDim.x;
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < slots; i += stride)
        if (b.key[i] != NONE)
            store(s, b.to, b.next_start[b.key[i]] + b.rank[i], 0, 0, 0, load(s, b.from, i, 0, 0, 0));
}
#endif
extern "C" __global__ void place_indices(Buffers b, u32 *order) {
    const u32 slots = *b.slots, stride = gridDim.x * blockDim.x;
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < slots; i += stride)
        if (b.key[i] != NONE) order[b.next_start[b.key[i]] + b.rank[i]] = i;
}
extern "C" __global__ void set_slots(Setup s, u32 *slots, const u32 *from, u32 more) {
    *slots = min(*from + more, s.capacity);
}
