//! The step of all cells. A group of threads (a warp, or a block) takes a cell, pulls its particles from the regions of the
//! neighbours, collides, samples, moves, and leaves them sorted by direction in the cell's own region of the other state. No
//! order is decided by who comes first, so that the same run has the same bits. Cells at faces of the domain and near walls
//! are done in three parts, the flights a thread a particle: those that meet walls are long.
#include "gas.cuh"
#include "cell.cuh"
#include "motion.cuh"
#include "plan.cu"
#include "sample.cuh"

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

// Where a flight that has ended goes: bin << 27 | number of the record of a far one. Leaves its place and velocity.
static __device__ u32 leave(const Gas& gas, const Work& work, u32 cell, const Flight& flight, float4& velocity, uint2& place) {
    velocity = make_float4(flight.velocity[0], flight.velocity[1], flight.velocity[2], __uint_as_float(flight.tag));
    place = pack_place(
        (u32)flight.at[0] & PLACE_MASK, (u32)flight.at[1] & PLACE_MASK, (u32)flight.at[2] & PLACE_MASK);
    int at[3];
    unravel(gas, cell, at);
    const u32 bin = direction_to(gas, at, flight.at);
    return (bin << 27) | (bin == FAR ? note_far(work, cell_of(gas, flight.at)) : 0u);
}

// The slow path of one particle: all walls and faces. Returns as `leave`. `index`: a number of its own.
static __device__ __noinline__ u32 move_slowly(const Gas& gas, const Work& work, const Orders& orders, u32 cell, u32 index,
    float4* velocity, uint2* place, float* rotation) {
    Flight flight;
    u32 x[3];
    int at[3];
    unravel(gas, cell, at);
    unpack_place(place->x, place->y, x[0], x[1], x[2]);
    for (int a = 0; a < 3; a++) flight.at[a] = ((i64)at[a] << PLACE_BITS) + x[a];
    flight.velocity[0] = velocity->x;
    flight.velocity[1] = velocity->y;
    flight.velocity[2] = velocity->z;
    flight.tag = __float_as_uint(velocity->w);
    flight.rotation = rotation ? *rotation : 0.0f;
    Stream rng = stream_of(gas, ((const Control*)work.control)->step, PURPOSE_WALL, index);
    if (!fly(gas, work, orders, flight, 1.0, rng)) return (u32)GONE << 27;
    if (rotation) *rotation = flight.rotation;
    return leave(gas, work, cell, flight, *velocity, *place);
}

// Lets the k-th molecule of a step in through the faces of a cell, face by face, and flies it for the rest of the step;
// returns as `leave`. Bird (1994, section 12.1): each crosses the face at a uniform instant of the step.
static __device__ __noinline__ u32 enter(const Gas& gas, const Work& work, const Orders& orders, u32 cell, u32 k,
    float4* velocity, uint2* place, float* rotation) {
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
    if (rotation) *rotation = flight.rotation;
    return leave(gas, work, cell, flight, *velocity, *place);
}

// A flight to a neighbour, as far as nothing can be in the way: the coordinates of its end relative to the cell's, plus 1,
// and its place there. False for farther ones, and for what is not a number.
static __device__ __forceinline__ bool to_neighbour(
    const Gas& gas, float4 v, uint2 old, u32& ex, u32& ey, u32& ez, uint2& place) {
    u32 x, y, z;
    unpack_place(old.x, old.y, x, y, z);
    const float dx = v.x * gas.advance[0], dy = v.y * gas.advance[1], dz = v.z * gas.advance[2];
    const int px = (int)x + __float2int_rn(dx), py = (int)y + __float2int_rn(dy), pz = (int)z + __float2int_rn(dz);
    ex = (u32)((px >> PLACE_BITS) + 1);
    ey = (u32)((py >> PLACE_BITS) + 1);
    ez = (u32)((pz >> PLACE_BITS) + 1);
    place = pack_place((u32)px & PLACE_MASK, (u32)py & PLACE_MASK, (u32)pz & PLACE_MASK);
    return ex < 3u && ey < 3u && ez < 3u && dx * dx + dy * dy + dz * dz < 1e18f;
}

// The slow path out of a slot of a cell away from edges. Few arguments and no addresses of the caller's variables, so that
// the fast path keeps those in registers.
template <int CAP>
static __device__ __noinline__ u32 move_slot(
    const Gas& gas, const Work& work, const Orders& orders, u32* base, u32 cap, u32 i, u32 cell, u32 index) {
    const Slots<0> s = {base, cap};
    float4 velocity = s.velocity(i);
    uint2 place = s.place(i);
    float* rotation = nullptr;
#ifdef ROTATION
    rotation = &s.rotation(i);
#endif
    const u32 word = move_slowly(gas, work, orders, cell, index, &velocity, &place, rotation);
    s.velocity(i) = velocity;
    s.place(i) = place;
    return word;
}

// One cell away from faces and walls.
template <int THREADS, int CAP>
static __device__ __forceinline__ void step_cell(const Gas& gas, const State& from, const State& to, const Work& work,
    const Orders& orders, u32 cell, u32 lane, u64 step, bool far_any, const Slots<CAP>& s, Board<THREADS>& board, u32 first) {
    u32* mine = board.bins + (lane & ~31u);
    mine[lane & 31u] = 0;
    const u32 n = begin_cell<THREADS, CAP, false>(gas, from, work, orders, cell, lane, step, far_any, s, board);
    for (u32 i0 = lane & ~31u; i0 < n; i0 += THREADS) {
        const u32 i = i0 + (lane & 31u);
        u32 word = 31u << 27;
        if (i < n) {
            u32 ex, ey, ez;
            uint2 place;
            if (to_neighbour(gas, s.velocity(i), s.place(i), ex, ey, ez, place)) {
                s.place(i) = place;
                word = (ez * 9u + ey * 3u + ex) << 27;
            } else {
                word = move_slot<CAP>(gas, work, orders, s.base, s.cap(), i, cell, first + i);
            }
        }
        rank_slot(s, mine, i, n, word);
    }
    sync<THREADS>();
    finish_cell<THREADS, CAP>(gas, to, work, orders, cell, lane, s, board, first, n, n);
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

// First part of a cell at an edge: what has collided lies at the beginning of its region, in the order of the slots.
template <int THREADS, int CAP>
static __device__ __forceinline__ void begin_edge(const Gas& gas, const State& from, const State& to, const Work& work,
    const Orders& orders, u32 cell, u32 lane, u64 step, bool far_any, const Slots<CAP>& s, Board<THREADS>& board, u32 first) {
    const u32 n = begin_cell<THREADS, CAP, true>(gas, from, work, orders, cell, lane, step, far_any, s, board);
    for (u32 i = lane; i < n; i += THREADS) {
        ((float4*)to.velocity)[first + i] = s.velocity(i);
        ((uint2*)to.place)[first + i] = s.place(i);
#ifdef ROTATION
        ((float*)to.rotation)[first + i] = s.rotation(i);
#endif
    }
    if (lane == 0) ((u32*)work.numbers)[cell] = n;
    sync<THREADS>();
}

// Third part: sorts what has flown and entered.
template <int THREADS, int CAP>
static __device__ __forceinline__ void finish_edge(const Gas& gas, const State& to, const Work& work, const Orders& orders,
    u32 cell, u32 lane, const Slots<CAP>& s, Board<THREADS>& board, u32 first, u32 slots) {
    u32* mine = board.bins + (lane & ~31u);
    mine[lane & 31u] = 0;
    __syncwarp();
    for (u32 i0 = lane & ~31u; i0 < slots; i0 += THREADS) {
        const u32 i = i0 + (lane & 31u);
        u32 word = 31u << 27;
        if (i < slots) {
            word = ((const u32*)work.words)[first + i];
            s.velocity(i) = ((const float4*)to.velocity)[first + i];
            s.place(i) = ((const uint2*)to.place)[first + i];
#ifdef ROTATION
            s.rotation(i) = ((const float*)to.rotation)[first + i];
#endif
        }
        rank_slot(s, mine, i, slots, word);
    }
    sync<THREADS>();
    finish_cell<THREADS, CAP>(gas, to, work, orders, cell, lane, s, board, first, slots, ((const u32*)work.numbers)[cell]);
}

static __device__ __forceinline__ bool is_edge(const Gas& gas, u32 cell, const int at[3]) {
    bool edge = false;
    for (int a = 0; a < 3; a++) edge = edge || at[a] == 0 || at[a] + 1 == (int)gas.cells[a];
#ifdef WALLS
    edge = edge || walls::clearance(gas.walls, cell) < 2u;
#endif
    return edge;
}

// Second part of the cells at edges and of the listed ones: a thread a particle moves it, or lets it in.
extern "C" __global__ void __launch_bounds__(128)
fly_cells(PARAM(Gas) gas, PARAM(State) to, PARAM(Work) work, PARAM(Orders) orders, u32 direct) {
    const Control* control = (const Control*)work.control;
    if (control->stalled) return;
    u32 total = work.edge_count;
    for (u32 c = 0; c < 5; c++)
        if (c != direct) total += control->listed[c];
    float4* velocity = (float4*)to.velocity;
    uint2* place = (uint2*)to.place;
    for (u32 item = blockIdx.x; item < total; item += gridDim.x) {
        u32 cell = 0;
        const bool listed = item >= work.edge_count;
        if (!listed) {
            cell = ((const u32*)work.edges)[item];
        } else {
            u32 rest = item - work.edge_count;
            for (u32 c = 0; c < 5; c++) {
                if (c == direct) continue;
                if (rest < control->listed[c]) {
                    cell = ((const u32*)work.lists)[(size_t)c * gas.cell_count + rest];
                    break;
                }
                rest -= control->listed[c];
            }
        }
        int at[3];
        unravel(gas, cell, at);
        // Those are among the edges already.
        if (listed && is_edge(gas, cell, at)) continue;
        const u32 first = ((const u32*)to.offset)[cell], slots = ((const u32*)to.offset)[cell + 1] - first;
        const u32 n = ((const u32*)work.numbers)[cell];
#ifdef WALLS
        const u32 clear = walls::clearance(gas.walls, cell);
#else
        const u32 clear = 255u;
#endif
        for (u32 i = blockIdx.y * blockDim.x + threadIdx.x; i < slots; i += gridDim.y * blockDim.x) {
            const u32 index = first + i;
            float* rotation = nullptr;
#ifdef ROTATION
            rotation = (float*)to.rotation + index;
#endif
            u32 word;
            if (i < n) {
                float4 v = velocity[index];
                uint2 x = place[index], there;
                u32 ex, ey, ez;
                const bool near = to_neighbour(gas, v, x, ex, ey, ez, there);
                const bool inside = near && (u32)(at[0] - 1 + (int)ex) < gas.cells[0] &&
                    (u32)(at[1] - 1 + (int)ey) < gas.cells[1] && (u32)(at[2] - 1 + (int)ez) < gas.cells[2];
                if (inside && (clear > 1u || (clear == 1u && ex == 1u && ey == 1u && ez == 1u))) {
                    place[index] = there;
                    word = (ez * 9u + ey * 3u + ex) << 27;
                } else if (near && leaves(gas, at, ex, ey, ez, clear)) {
                    word = (u32)GONE << 27;
                    count(work, COUNT_LEFT, 1);
                } else {
                    word = move_slowly(gas, work, orders, cell, index, &v, &x, rotation);
                    velocity[index] = v;
                    place[index] = x;
                }
            } else {
                float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                uint2 x = make_uint2(0, 0);
                word = enter(gas, work, orders, cell, i - n, &v, &x, rotation);
                velocity[index] = v;
                place[index] = x;
            }
            ((u32*)work.words)[index] = word;
        }
    }
}

// Which cells a kernel goes over.
enum { OVER_CORES = 0, OVER_EDGES = 1, OVER_LIST = 2 };
// Which part of a cell's step it does.
enum { WHOLE = 0, BEGIN = 1, FINISH = 2 };

// A kernel for cells of one size class, those with at most CAP particles and at least `low`. Groups of threads take the
// next `TAKE` cells when they are done with theirs, so that none waits for another; the results do not depend on who takes
// what. Cells of other classes are left out.
template <int THREADS, int GROUPS, int CAP, int TAKE, int PART>
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
            if (PART == WHOLE)
                step_cell<THREADS, CAP>(gas, from, to, work, orders, cell, lane, step, far_any, s, board, first);
            else if (PART == BEGIN)
                begin_edge<THREADS, CAP>(gas, from, to, work, orders, cell, lane, step, far_any, s, board, first);
            else
                finish_edge<THREADS, CAP>(gas, to, work, orders, cell, lane, s, board, first, size);
        }
    }
    hand_in<THREADS>(work, lane, board);
}

#define STEP_ARGUMENTS                                                                                                  \
    PARAM(Gas) gas, PARAM(State) from, PARAM(State) to, PARAM(Work) work, PARAM(Orders) orders, u32 size_class, u32 over, \
        u32 low, u32 counter
#define STEP_PASS gas, from, to, work, orders, size_class, over, low, counter
// Kernels of a size class: for usual cells the whole step, for cells at edges its first and its last part.
#define CLASS(threads, groups, take, blocks)                                                                          \
    extern "C" __global__ void __launch_bounds__(threads * groups, blocks) core_##threads(STEP_ARGUMENTS) {           \
        step_class<threads, groups, CAP_##threads, take, WHOLE>(STEP_PASS);                                             \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(threads * groups, blocks) begin_##threads(STEP_ARGUMENTS) {          \
        step_class<threads, groups, CAP_##threads, 1, BEGIN>(STEP_PASS);                                                \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(threads * groups, blocks) finish_##threads(STEP_ARGUMENTS) {         \
        step_class<threads, groups, CAP_##threads, 1, FINISH>(STEP_PASS);                                               \
    }
CLASS(32, 8, 2, STEP_BLOCKS)
CLASS(64, 1, 1, 4 * STEP_BLOCKS)
CLASS(128, 1, 1, STEP_BLOCKS)
CLASS(512, 1, 1, 1)

// Cells that no block's memory holds: their slots are in global memory.
template <int PART>
static __device__ __forceinline__ void step_giants(
    const Gas& gas, const State& from, const State& to, const Work& work, const Orders& orders) {
    SHARED Board<512> board;
    const Control* control = (const Control*)work.control;
    if (control->stalled) return;
    if (threadIdx.x < 4) board.counts[threadIdx.x] = 0;
    __syncthreads();
    const u32 total = control->listed[4];
    for (u32 k = blockIdx.x; k < total; k += gridDim.x) {
        const u32 cell = ((const u32*)work.lists)[(size_t)4 * gas.cell_count + k];
        const u32 first = ((const u32*)to.offset)[cell], size = ((const u32*)to.offset)[cell + 1] - first;
        const Slots<0> s = {
            (u32*)work.scratch + (size_t)SLOT_WORDS * ((const u32*)work.scratch_at)[k], (size + 3u) & ~3u};
        if (PART == BEGIN)
            begin_edge<512, 0>(gas, from, to, work, orders, cell, threadIdx.x, control->step,
                control->far_total[work.parity] != 0, s, board, first);
        else
            finish_edge<512, 0>(gas, to, work, orders, cell, threadIdx.x, s, board, first, size);
    }
    hand_in<512>(work, threadIdx.x, board);
}
extern "C" __global__ void __launch_bounds__(512, 1)
begin_giant(PARAM(Gas) gas, PARAM(State) from, PARAM(State) to, PARAM(Work) work, PARAM(Orders) orders) {
    step_giants<BEGIN>(gas, from, to, work, orders);
}
extern "C" __global__ void __launch_bounds__(512, 1)
finish_giant(PARAM(Gas) gas, PARAM(State) from, PARAM(State) to, PARAM(Work) work, PARAM(Orders) orders) {
    step_giants<FINISH>(gas, from, to, work, orders);
}
