//! The structs that host and kernels share, and where a particle is. Mirrored by src/device/cuda/gas/abi.rs,
//! which checks sizes and offsets when the kernels are compiled.
//
// A particle is a float4 {velocity in m/s, tag as bits} and a uint2 with its place in its cell: three lattice coordinates
// of 21 bits. The global lattice coordinate along an axis is cell * 2^21 + place; by definition the position, in m from
// the domain's corner, is that times `step`.
//
// Between steps particles lie in the regions of the cells that they came from, sorted by direction: 0 to 26 are the
// neighbours (13 is the cell itself), 27 are those that flew farther, whose cell stands in a record. `ends` tells where
// each direction ends in the region.
#pragma once
#include "common.cuh"
#include "collide.cuh"
#include "wall_law.cuh"
#include "walls.cuh"

#define DIRECTIONS 27
#define FAR 27
#define GONE 28
#define BINS 28
#define PLACE_BITS 21
#define PLACE_MASK 0x1fffffu
#define NOWHERE 0xffffffffu

#ifdef WIDE_BINS
typedef u32 Bin;
#else
typedef unsigned short Bin;
#endif

// What a face of the domain does.
enum { FACE_OPEN = 0, FACE_PERIODIC = 1, FACE_WALL = 2 };

// Counters of a step, in the order of src/device/cuda/gas/abi.rs.
enum Count {
    COUNT_PARTICLES = 0, COUNT_CANDIDATES, COUNT_COLLISIONS, COUNT_EXCEEDED, COUNT_CLIPPED, COUNT_LEFT, COUNT_ENTERED,
    COUNT_WALL_HITS, COUNT_FACE_HITS, COUNT_BOUNCE_LIMIT, COUNT_PUT_BACK, COUNT_LOST, COUNT_ENERGY, COUNT_FAR,
    COUNT_KEPT,
    COUNTS = 16
};
// Copies of the counters, so that blocks do not wait for each other.
#define SPREAD 32

// Why a step could not begin.
enum { STALL_PARTICLES = 1, STALL_FAR = 2, STALL_SCRATCH = 4, STALL_BINS = 8, STALL_LOST = 16 };

struct Control {
    u64 step;             // steps done
    u32 stalled;          // STALL_*, 0 if all is well
    u32 needed;           // particles that the next step needs room for
    u32 far_total[2];     // records of far flights in each buffer
    u32 listed[8];        // cells in each list of a size class
    u32 taken[16];        // cells that were taken, by kernel
    u32 scratch;          // slots of the giant cells
    u32 spare;
};

// A flight farther than the neighbours.
struct FarRecord {
    u32 index;  // where the particle lies
    u32 cell;   // where it belongs
};

// Constant during a run of a scene.
struct Gas {
    u32 cells[3];
    u32 cell_count;
    double step[3];        // m a lattice unit
    float advance[3];      // lattice units a time step, for 1 m/s
    float time_step;       // s
    u64 seed;
    PairModel pair;
    float majorant_ratio;
    u32 heavy_from;        // particles from which on a cell uses Half-Split-Shuffle
    double exposure;       // F_N dt / V, s/m^3
    u32 faces[6];
    WallLaw face_laws[6];
    float stream[3];       // m/s; sums of velocities are relative to it
    float inflow_speed;    // most probable speed, m/s
    double inflow_mean[6]; // particles through one cell of a face in a step; 0 where nothing comes in
    u32 inflow_base[6];    // first site of a face: a site is a cell's face
    u32 site_count;
    u32 body_count;
    double impulse_scale;  // fixed-point units a m/s
    double moment_scale;   // ... a m^2/s
    double energy_scale;   // ... a J/kg
    double kinetic_scale;  // ... a J/kg, of all particles
    float fill_mean;       // particles a cell at the start
    float thermal_speed;   // sqrt(k T / m) of the stream, m/s
    walls::WallsView walls;
    u64 laws;              // WallLaw of each body
    u64 origins;           // double[3] of each body: point of the moments
    u64 tallies;           // i64[5] of each triangle: hits, impulse, energy
    u64 body_sums;         // i64[8] of each body, SPREAD copies
};

// Addresses of one of the two states.
struct State {
    u64 velocity;  // float4
    u64 place;     // uint2
    u64 rotation;  // float, J/kg
    u64 ends;      // Bin, [BINS][cells]
    u64 offset;    // u32, [cells + 1]
};

// Addresses of what a step works with.
struct Work {
    u64 control;      // Control
    u64 block_sums;   // u32, 2 a block of the plan
    u64 far_records;  // FarRecord
    u64 far_count;    // u32 a cell
    u64 far_offset;   // u32, [cells + 1]
    u64 far_index;    // u32
    u64 site_counts;  // u32 a site
    u64 lists;        // u32, [5][cells]: cells of each size class
    u64 edges;        // u32: cells at a face of the domain or near a wall, ...
    u64 cores;        // ... and the others
    u64 numbers;      // u32 a cell: particles of the cells at edges, between the parts of their step
    u64 words;        // u32 a particle: where those go
    u64 scratch;      // u32, 8 words a slot: the giant cells
    u64 scratch_at;   // u32, first slot of each giant cell in the list
    u64 majorants;    // float a cell
    u64 sums;         // double[7] a cell
    u64 counts;       // u64, [SPREAD][COUNTS]
    u64 log;          // i64, [slots][COUNTS + 8 bodies]
    u32 capacity;     // particles
    u32 far_capacity;
    u32 scratch_capacity;
    u32 parity;       // which far_total belongs to the state that is read
    u32 edge_count;
    u32 core_count;
};

// What is asked of one step.
struct Orders {
    u32 slot;    // of the log
    u32 sample;  // add to the sums of the cells
    u32 energy;  // sum the kinetic energy
    u32 tally;   // add to the tallies of the triangles
};

static __device__ __forceinline__ void unravel(const Gas& gas, u32 cell, int at[3]) {
    const u32 row = cell / gas.cells[0];
    at[0] = (int)(cell - row * gas.cells[0]);
    at[2] = (int)(row / gas.cells[1]);
    at[1] = (int)(row - (u32)at[2] * gas.cells[1]);
}

static __device__ __forceinline__ u32 index_of(const Gas& gas, int x, int y, int z) {
    return ((u32)z * gas.cells[1] + (u32)y) * gas.cells[0] + (u32)x;
}

// Packs three coordinates of 21 bits.
static __device__ __forceinline__ uint2 pack_place(u32 x, u32 y, u32 z) {
    return make_uint2(x | (y << 21), (y >> 11) | (z << 10));
}

static __device__ __forceinline__ void unpack_place(u32 low, u32 high, u32& x, u32& y, u32& z) {
    x = low & PLACE_MASK;
    y = (low >> 21) | ((high & 0x3ffu) << 11);
    z = (high >> 10) & PLACE_MASK;
}

// Index of the cell from which a particle of this direction came to a cell; NOWHERE beyond a face that is not periodic.
static __device__ __forceinline__ u32 source_of(const Gas& gas, const int at[3], int direction) {
    int from[3] = {at[0] - (direction % 3 - 1), at[1] - (direction / 3 % 3 - 1), at[2] - (direction / 9 - 1)};
#pragma unroll
    for (int a = 0; a < 3; a++) {
        const int cells = (int)gas.cells[a];
        if (from[a] < 0) {
            if (gas.faces[2 * a] != FACE_PERIODIC) return NOWHERE;
            from[a] += cells;
        } else if (from[a] >= cells) {
            if (gas.faces[2 * a + 1] != FACE_PERIODIC) return NOWHERE;
            from[a] -= cells;
        }
    }
    return index_of(gas, from[0], from[1], from[2]);
}

static __device__ __forceinline__ u32 bin_start(const Bin* ends, u32 cell_count, u32 cell, int bin) {
    return bin == 0 ? 0u : (u32)ends[(size_t)(bin - 1) * cell_count + cell];
}

static __device__ __forceinline__ void count(const Work& work, u32 which, u64 by) {
    if (by) atomicAdd((u64*)work.counts + (blockIdx.x % SPREAD) * COUNTS + which, by);
}

// The random numbers of a step number that is known on the device only.
static __device__ __forceinline__ Stream stream_of(const Gas& gas, u64 step, u32 purpose, u32 index, u32 first_block = 0) {
    return stream_new(gas.seed, step, purpose, index, first_block);
}
