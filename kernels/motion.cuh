//! The flight of one particle that may meet walls or faces of the domain. The fast path is in step.cu.
#pragma once
#include "gas.cuh"

// Hits in a step after which a particle is left where it is until the next.
#define BOUNCE_LIMIT 200

struct Flight {
    i64 at[3];          // lattice
    float velocity[3];  // m/s
    float rotation;     // J/kg
    u32 tag;
};

static __device__ __forceinline__ i64 fixed(double value, double scale) { return __double2ll_rn(value * scale); }

static __device__ __forceinline__ void touch(u32& tag, u32 origin) { tag = (tag & ~(7u << 24)) | (origin << 24); }

static __device__ __forceinline__ u32 cell_of(const Gas& gas, const i64 at[3]) {
    return index_of(gas, (int)(at[0] >> PLACE_BITS), (int)(at[1] >> PLACE_BITS), (int)(at[2] >> PLACE_BITS));
}

static __device__ __forceinline__ void reflect_flight(const WallLaw& law, Flight& flight, const double normal[3], Stream& rng) {
    float3 velocity = make_float3(flight.velocity[0], flight.velocity[1], flight.velocity[2]);
    reflect(law, velocity, flight.rotation, make_double3(normal[0], normal[1], normal[2]), rng);
    flight.velocity[0] = velocity.x;
    flight.velocity[1] = velocity.y;
    flight.velocity[2] = velocity.z;
}

#ifdef WALLS
// Whether a straight flight that starts in a cell cannot meet a wall: it ends fewer cells away than any wall is.
static __device__ __forceinline__ bool is_clear(const Gas& gas, const i64 from[3], const i64 to[3]) {
    const int clear = walls::clearance(gas.walls, cell_of(gas, from));
    int distance = 0;
    for (int a = 0; a < 3; a++) {
        i64 d = (to[a] >> PLACE_BITS) - (from[a] >> PLACE_BITS);
        distance = max(distance, (int)(d < 0 ? -d : d));
    }
    return distance < clear;
}

// What the wall does with the molecule, and what the wall gets of it.
static __device__ void hit_body(
    const Gas& gas, const Work& work, const Orders& orders, Flight& flight, const walls::Hit& hit, const i64 at[3], Stream& rng) {
    const u32 body = gas.walls.triangles[hit.triangle].obstacle;
    const float before[3] = {flight.velocity[0], flight.velocity[1], flight.velocity[2]};
    const float rotation_before = flight.rotation;
    reflect_flight(((const WallLaw*)gas.laws)[body], flight, hit.normal, rng);
    touch(flight.tag, 7u);
    double impulse[3], arm[3], square = 0.0;
    const double* origin = (const double*)gas.origins + 3 * body;
    for (int a = 0; a < 3; a++) {
        flight.at[a] = at[a];
        impulse[a] = (double)(before[a] - flight.velocity[a]);
        arm[a] = (double)at[a] * gas.step[a] - origin[a];
        square += (double)before[a] * before[a] - (double)flight.velocity[a] * flight.velocity[a];
    }
    const double energy = 0.5 * square + (double)rotation_before - (double)flight.rotation;
    i64* sums = (i64*)gas.body_sums + ((size_t)(blockIdx.x % SPREAD) * gas.body_count + body) * 8;
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        atomicAdd((u64*)sums + a, (u64)fixed(impulse[a], gas.impulse_scale));
        atomicAdd((u64*)sums + 3 + a, (u64)fixed(arm[b] * impulse[c] - arm[c] * impulse[b], gas.moment_scale));
    }
    atomicAdd((u64*)sums + 6, (u64)fixed(energy, gas.energy_scale));
    atomicAdd((u64*)sums + 7, (u64)1);
    if (orders.tally) {
        i64* tally = (i64*)gas.tallies + (size_t)hit.triangle * 5;
        atomicAdd((u64*)tally, (u64)1);
        for (int a = 0; a < 3; a++) atomicAdd((u64*)tally + 1 + a, (u64)fixed(impulse[a], gas.impulse_scale));
        atomicAdd((u64*)tally + 4, (u64)fixed(energy, gas.energy_scale));
    }
}
#endif

// Carries out the law of a face; false if the particle left.
static __device__ bool hit_face(const Gas& gas, const Work& work, Flight& flight, int face, Stream& rng) {
    const int axis = face >> 1;
    const bool upper = face & 1;
    if (gas.faces[face] == FACE_OPEN) {
        count(work, COUNT_LEFT, 1);
        return false;
    }
    if (gas.faces[face] == FACE_PERIODIC) {
        const i64 last = ((i64)gas.cells[axis] << PLACE_BITS) - 1;
        flight.at[axis] = upper ? 0 : last;
#ifdef WALLS
        if (!walls::in_gas(gas.walls, flight.at)) {
            count(work, COUNT_LOST, 1);
            return false;
        }
#endif
        return true;
    }
    const WallLaw& law = gas.face_laws[face];
    double normal[3] = {0.0, 0.0, 0.0};
    normal[axis] = upper ? -1.0 : 1.0;
    count(work, COUNT_FACE_HITS, 1);
    // A specular face is a mirror: what comes from it is what the same flow on its other side would send.
    if (law.accommodation > 0.0f) touch(flight.tag, (u32)face + 1u);
    reflect_flight(law, flight, normal, rng);
    return true;
}

// Flies for `share` of the time step with all walls and faces in the way; false if the particle left or was lost.
// Every corner of the path is a lattice point, and its segments are tested exactly: no wall can be passed.
static __device__ __noinline__ bool fly(
    const Gas& gas, const Work& work, const Orders& orders, Flight& flight, double share, Stream& rng) {
    for (int bounce = 0; bounce < BOUNCE_LIMIT; bounce++) {
        i64 to[3];
        double fraction = 2.0;
        int face = -1;
        double delta[3];
        for (int a = 0; a < 3; a++) {
            delta[a] = (double)flight.velocity[a] * (double)gas.advance[a] * share;
            // Also false for what is not a number.
            if (!(fabs(delta[a]) < 4e18)) {
                count(work, COUNT_LOST, 1);
                return false;
            }
            to[a] = flight.at[a] + __double2ll_rn(delta[a]);
            const i64 last = ((i64)gas.cells[a] << PLACE_BITS) - 1;
            i64 bound;
            if (to[a] < 0) bound = 0;
            else if (to[a] > last) bound = last;
            else continue;
            const double t = (double)(bound - flight.at[a]) / (double)(to[a] - flight.at[a]);
            if (t < fraction) {
                fraction = t;
                face = 2 * a + (bound > 0);
            }
        }
        if (face >= 0) {
            for (int a = 0; a < 3; a++) {
                const i64 last = ((i64)gas.cells[a] << PLACE_BITS) - 1;
                if (a == face >> 1) {
                    to[a] = (face & 1) ? last : 0;
                } else {
                    const i64 x = flight.at[a] + __double2ll_rn(fraction * (double)(to[a] - flight.at[a]));
                    to[a] = x < 0 ? 0 : x > last ? last : x;
                }
            }
        } else {
            fraction = 1.0;
        }
#ifdef WALLS
        if (!is_clear(gas, flight.at, to)) {
            double p[3], q[3];
            walls::position(gas.walls, flight.at, p);
            walls::position(gas.walls, to, q);
            walls::Hit hit;
            if (walls::first_hit(gas.walls, p, q, &hit)) {
                i64 landed[3];
                bool put_back;
                walls::landing(gas.walls, flight.at, to, hit, landed, &put_back);
                count(work, COUNT_PUT_BACK, put_back);
                count(work, COUNT_WALL_HITS, 1);
                hit_body(gas, work, orders, flight, hit, landed, rng);
                share *= 1.0 - hit.t * fraction;
                continue;
            }
        }
#endif
        for (int a = 0; a < 3; a++) flight.at[a] = to[a];
        if (face < 0) return true;
        share *= 1.0 - fraction;
        if (!hit_face(gas, work, flight, face, rng)) return false;
    }
    count(work, COUNT_BOUNCE_LIMIT, 1);
    return true;
}
