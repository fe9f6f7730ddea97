//! Obstacles on the device: the first wall that a path meets, exactly, where the particle is put down, and the
//! inside test. Knows nothing of gases or walls' laws of reflection. Mirrors src/physics/geometry; its data
//! come from there (src/device/cuda/walls.rs).
//!
//! Why no particle passes a wall: see src/physics/geometry/mod.rs. Here a particle's position is a point of the
//! lattice, and stands for one triple of doubles, `position(walls, point)`. Every path is tested between these
//! very doubles, in exact arithmetic, against closed triangles; `landing` accepts only points that a path
//! tested free joins to where the particle was.
//!
//! Why the cells' lists of faces are enough: the lattice gives a point to cell X >> 21, and its doubles differ
//! from that place by less than 2^-51 of the domain's size, by the rounding of the step and of the product. The
//! lists take a cell larger by 1e-4 of itself and 2.5e-7 of the domain on each side, for the f32 positions of
//! the CPU device.
#pragma once
#include "predicates.cuh"

namespace walls {

// Steps of the lattice in a cell, along each axis, as a power of two.
constexpr int STEP_BITS = 21;
// State of a cell without faces that is full of gas, or inside a body.
constexpr unsigned int GAS = 0xFFFFFFFFu;
constexpr unsigned int SOLID = 0xFFFFFFFEu;
// No triangle on this side of a face.
constexpr unsigned int NONE = 0xFFFFFFFFu;
// Points tried to get round an edge in the inside test; each fails only by an exact coincidence.
constexpr unsigned int ATTEMPTS = 64;

// A set of points in space where one triangle lies, or several that coincide. Lengths in m from the domain's
// corner.
struct FaceData {
    // Three corners, counter-clockwise seen from the front.
    double corners[9];
    // Unit normal on the front side, rounded; the plane is where normal . x = offset.
    double normal[3];
    double offset;
    // Bound of the rounding error of normal . x - offset, m; infinite for slivers.
    double margin;
    // The triangle whose front is the face's front, and that whose front is its back, or NONE.
    unsigned int front;
    unsigned int back;
    // How much the winding number grows from front to back.
    int weight;
    // An axis along which the face is not edge-on.
    int dropped;
};

// A cell that has faces.
struct WallCellData {
    // Its faces are entries start to end of the list.
    unsigned int start;
    unsigned int end;
    // Index in the grid.
    unsigned int cell;
    // Winding number of all closed bodies about `reference`, a point in the cell, m, not on a face.
    int winding;
    float reference[3];
    // Share of the cell that is gas, 0 to 1.
    float gas;
};

// The plane of a face in single precision, to pass by most faces of a cell in a few operations.
struct SieveData {
    float normal[3];
    float offset;
    // Bound of the error of the distance, m. It is 67 units of 2^-24 of the largest coordinate and the face's
    // margin. The roundings are at most 13 such units, and 2 more for positions that are rounded from doubles
    // to floats.
    float margin;
};

struct TriangleData {
    // Index of the obstacle that has the triangle.
    unsigned int obstacle;
};

// All obstacles. Passed to kernels by value; src/device/cuda/walls.rs has its twin.
struct WallsView {
    // faces[face_count]
    const FaceData* faces;
    // Per cell: GAS, SOLID, or the index of its wall cell.
    const unsigned int* states;
    // Per cell: see `clearance`.
    const unsigned char* clearance;
    const WallCellData* wall_cells;
    // Faces of the wall cells, and the sieve of each entry.
    const unsigned int* list;
    const SieveData* sieves;
    // In order of obstacle and of index in its mesh.
    const TriangleData* triangles;
    // The lattice's step, m, along each axis.
    double step[3];
    // Edge lengths of a cell, m, and cells a metre.
    double cell_size[3];
    double per_metre[3];
    // Largest edge length of the domain, m.
    double reach;
    unsigned int cells[3];
    unsigned int face_count;
};

// Where a path meets a wall.
struct Hit {
    // Fraction of the path before the wall, rounded.
    double t;
    // The point of the wall, rounded, m from the domain's corner.
    double position[3];
    // Unit normal towards the side from which the particle came.
    double normal[3];
    // The triangle met: of coincident ones, that whose front faces the particle.
    unsigned int triangle;
    // 1 if the particle came from the triangle's front side, else 0.
    unsigned int front;
};

// A face met, before it is made a hit. No face: NONE.
struct Meeting {
    double t;
    unsigned int face;
    unsigned int triangle;
    // From the front of the face.
    bool front;
    // Whether there is a triangle whose front faces the particle.
    bool faced;
};

// The place, m from the domain's corner, for which a point of the lattice stands.
__device__ __forceinline__ void position(const WallsView& walls, const long long point[3], double out[3]) {
    for (int a = 0; a < 3; a++) out[a] = __dmul_rn((double)point[a], walls.step[a]);
}

// Index of the cell that holds a point of the lattice; the domain's upper faces belong to the last cells.
__device__ __forceinline__ unsigned int cell_of(const WallsView& walls, const long long point[3]) {
    unsigned int index[3];
    for (int a = 0; a < 3; a++) {
        const unsigned int cell = (unsigned int)(point[a] >> STEP_BITS);
        index[a] = cell < walls.cells[a] ? cell : walls.cells[a] - 1;
    }
    return (index[2] * walls.cells[1] + index[1]) * walls.cells[0] + index[0];
}

// Chebyshev distance in cells from a cell to the nearest one that has walls; 255 means at least that.
// A move that starts in the cell and ends fewer cells away along every axis meets no wall.
__device__ __forceinline__ unsigned int clearance(const WallsView& walls, unsigned int cell) {
    return walls.clearance[cell];
}

// Share of a cell's volume that is gas, 0 to 1. A particle right at a wall that lies in a cell's face may, by
// rounding, be in a cell without any gas.
__device__ __forceinline__ float gas_fraction(const WallsView& walls, unsigned int cell) {
    const unsigned int state = walls.states[cell];
    if (state >= SOLID) return state == GAS ? 1.0f : 0.0f;
    return walls.wall_cells[state].gas;
}

// Whether both ends are surely on the same side of a face's plane, off it.
__device__ __forceinline__ bool passes_by(const SieveData& sieve, const float from[3], const float to[3]) {
    const float* n = sieve.normal;
    const float near = n[0] * from[0] + n[1] * from[1] + n[2] * from[2] - sieve.offset;
    const float far = n[0] * to[0] + n[1] * to[1] + n[2] * to[2] - sieve.offset;
    return fminf(near, far) > sieve.margin || fmaxf(near, far) < -sieve.margin;
}

// The side of a face on which a point lies, of which the rounded distance from its plane is known.
__device__ __forceinline__ int side_of(const FaceData& face, double distance, const double point[3]) {
    if (distance > face.margin) return 1;
    if (distance < -face.margin) return -1;
    return predicates::side(face.corners, point);
}

__device__ __forceinline__ double distance(const FaceData& face, const double point[3]) {
    return face.normal[0] * point[0] + face.normal[1] * point[1] + face.normal[2] * point[2] - face.offset;
}

// Whether a path meets a face, edges, corners and end points included: exactly. Also the fraction of the path,
// rounded, and whether it comes from the front.
__device__ __noinline__ bool meets(const FaceData& face, const double from[3], const double to[3], double& t,
                                   bool& front) {
    double near = distance(face, from), far = distance(face, to);
    const double margin = face.margin;
    if ((near > margin && far > margin) || (near < -margin && far < -margin)) return false;
    for (int a = 0; a < 3; a++) {
        const double x = face.corners[a], y = face.corners[3 + a], z = face.corners[6 + a];
        if (fmax(from[a], to[a]) < fmin(fmin(x, y), z)) return false;
        if (fmin(from[a], to[a]) > fmax(fmax(x, y), z)) return false;
    }
    const int start = side_of(face, near, from), end = side_of(face, far, to);
    if (start * end > 0) return false;
    if (start == 0 && end == 0) {
        front = true;
        return predicates::meets_in_plane(face.corners, face.dropped, from, to, t);
    }
    if (!predicates::pierces(face.corners, from, to)) return false;
    near = start == 0 ? 0.0 : fabs(near);
    far = end == 0 ? 0.0 : fabs(far);
    t = near + far > 0.0 ? near / (near + far) : 0.0;
    front = start > 0 || end < 0;
    return true;
}

// Betters `best` by the faces of a cell. Meetings closer than `tie` count as one; then the faced triangle wins,
// or the first in order.
__device__ __forceinline__ void search(const WallsView& walls, unsigned int cell, const double from[3],
                                       const double to[3], double tie, Meeting& best) {
    const unsigned int state = walls.states[cell];
    if (state >= SOLID) return;
    const float p[3] = {(float)from[0], (float)from[1], (float)from[2]};
    const float q[3] = {(float)to[0], (float)to[1], (float)to[2]};
    const unsigned int end = walls.wall_cells[state].end;
    for (unsigned int entry = walls.wall_cells[state].start; entry < end; entry++) {
        if (passes_by(walls.sieves[entry], p, q)) continue;
        const unsigned int index = walls.list[entry];
        const FaceData& face = walls.faces[index];
        double t;
        bool front;
        if (!meets(face, from, to, t, front)) continue;
        const unsigned int facing = front ? face.front : face.back;
        const bool faced = facing != NONE;
        const unsigned int triangle = faced ? facing : (front ? face.back : face.front);
        bool better = best.face == NONE;
        if (!better) {
            if (fabs(t - best.t) > tie)
                better = t < best.t;
            else
                better = faced != best.faced ? faced : triangle < best.triangle;
        }
        if (better) best = Meeting{t, index, triangle, front, faced};
    }
}

// Index of the cell along an axis, of a coordinate in cells, at most a cell beyond the domain.
__device__ __forceinline__ long long cell_at(const WallsView& walls, int axis, double coordinate) {
    const long long cell = (long long)coordinate, last = (long long)walls.cells[axis] - 1;
    return cell < 0 ? 0 : (cell > last ? last : cell);
}

// The first wall that the straight path between two positions in the domain meets; false if none.
//
// Whether there is one is exact: the path, ends included, against triangles, edges included. Where it is, is
// rounded. A position that lies on a wall already (which no landing does) meets it at t = 0.
__device__ __noinline__ bool first_hit(const WallsView& walls, const double from[3], const double to[3],
                                       Hit* out) {
    if (walls.face_count == 0) return false;
    double u[3], travel[3], length = 0.0;
    int a = 0;
    for (int n = 0; n < 3; n++) {
        u[n] = from[n] * walls.per_metre[n];
        travel[n] = to[n] * walls.per_metre[n] - u[n];
        if (fabs(travel[n]) > fabs(travel[a])) a = n;
        length = fmax(length, fabs(to[n] - from[n]));
    }
    const int axes[2] = {a == 2 ? 0 : a + 1, a == 0 ? 2 : a - 1};
    // Slabs of cells along the axis with the longest way; in each the cells that the path may touch.
    const long long last = cell_at(walls, a, to[a] * walls.per_metre[a]);
    long long slab = cell_at(walls, a, u[a]);
    const bool forwards = last > slab;
    // Fraction of the path at which two meetings count as one: far below the resolution of the lattice.
    const double tie = fmin(walls.reach * 1e-10 / length, 1.0);
    Meeting best = {0.0, NONE, NONE, false, false};
    double enter = 0.0;
    for (;;) {
        double leave = 1.0;
        if (slab != last) {
            const double face = (double)(forwards ? slab + 1 : slab);
            leave = fmin(fmax((face - u[a]) / travel[a], 0.0), 1.0);
        }
        // Cells are taken larger than they are in the lists; the pad of 1e-6 only covers rounding here.
        long long low[2], high[2];
        for (int n = 0; n < 2; n++) {
            const double s = u[axes[n]] + enter * travel[axes[n]], e = u[axes[n]] + leave * travel[axes[n]];
            low[n] = cell_at(walls, axes[n], fmin(s, e) - 1e-6);
            high[n] = cell_at(walls, axes[n], fmax(s, e) + 1e-6);
        }
        long long cell[3];
        cell[a] = slab;
        for (long long b = low[0]; b <= high[0]; b++) {
            for (long long c = low[1]; c <= high[1]; c++) {
                cell[axes[0]] = b;
                cell[axes[1]] = c;
                const long long index = (cell[2] * walls.cells[1] + cell[1]) * walls.cells[0] + cell[0];
                search(walls, (unsigned int)index, from, to, tie, best);
            }
        }
        if (slab == last || (best.face != NONE && best.t + tie < leave)) break;
        enter = leave;
        slab += forwards ? 1 : -1;
    }
    if (best.face == NONE) return false;
    const FaceData& face = walls.faces[best.face];
    out->t = best.t;
    out->triangle = best.triangle;
    out->front = best.faced ? 1 : 0;
    for (int n = 0; n < 3; n++) {
        out->position[n] = from[n] + best.t * (to[n] - from[n]);
        out->normal[n] = best.front ? face.normal[n] : -face.normal[n];
    }
    return true;
}

// The point of the lattice nearest to a place, kept off the domain's upper faces.
__device__ __forceinline__ void nearest(const WallsView& walls, const double place[3], long long out[3]) {
    for (int a = 0; a < 3; a++) {
        const long long last = ((long long)walls.cells[a] << STEP_BITS) - 1;
        const long long point = __double2ll_rn(place[a] / walls.step[a]);
        out[a] = point < 0 ? 0 : (point > last ? last : point);
    }
}

// Whether the path from a place to a point of the lattice meets no wall.
__device__ __forceinline__ bool is_free(const WallsView& walls, const double from[3], const long long to[3]) {
    double end[3];
    Hit hit;
    position(walls, to, end);
    return !first_hit(walls, from, end, &hit);
}

// Where the particle on the path `from`..`to` is put down in front of the wall that it met, as a point of the
// lattice: within a few steps of the wall, or if something is in the way, back along the path, or at last where
// it came from (`put_back`).
//
// The straight path from `from` to the landing meets no wall, exactly, so that a particle which moves on from
// landing to landing never passes one. Only a particle put back can be on an upper face of the domain, if it
// came from there.
__device__ __noinline__ void landing(const WallsView& walls, const long long from[3], const long long to[3],
                                     const Hit& hit, long long out[3], bool* put_back) {
    double p[3], q[3], place[3];
    position(walls, from, p);
    position(walls, to, q);
    *put_back = false;
    // A place is off its nearest point by half of `across` at most along the normal, and half of `coarse` along an
    // axis. Where cells are smaller than the rounding of doubles, that counts.
    double across = 0.0, coarse = 0.0, length = 0.0, largest = 0.0;
    for (int a = 0; a < 3; a++) {
        across += fabs(hit.normal[a]) * walls.step[a];
        coarse = fmax(coarse, walls.step[a]);
        length = fmax(length, fabs(q[a] - p[a]));
        largest = fmax(largest, fabs(hit.position[a]));
    }
    across = fmax(across, 8.9e-16 * largest);
    coarse = fmax(coarse, across);
    // One step off the wall is nearly always enough; none at all is for gaps narrower than that.
    for (int n = 0; n <= 6; n++) {
        const double off = n < 6 ? (double)(1 << n) * across : 0.0;
        for (int a = 0; a < 3; a++) place[a] = hit.position[a] + hit.normal[a] * off;
        nearest(walls, place, out);
        if (is_free(walls, p, out)) return;
    }
    // Back along the path by 1, 2, 4, 16, 64, 256 and 4096 steps.
    for (int n = 0; n < 7; n++) {
        const int bits = n < 2 ? n : (n == 6 ? 12 : 2 * n - 2);
        const double t = hit.t - (double)(1 << bits) * coarse / length;
        if (!(t > 0.0)) break;
        for (int a = 0; a < 3; a++) place[a] = p[a] + t * (q[a] - p[a]);
        nearest(walls, place, out);
        if (is_free(walls, p, out)) return;
    }
    for (int a = 0; a < 3; a++) out[a] = from[a];
    *put_back = true;
}

// Mixing function of SplitMix64 (Steele, Lea and Flood 2014), for points without pattern.
__device__ __forceinline__ unsigned long long mix(unsigned long long z) {
    z += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

// A point in the middle half of a cell, another for every attempt, m.
__device__ __forceinline__ void candidate(const WallsView& walls, unsigned int cell, unsigned int attempt,
                                          double out[3]) {
    const unsigned int nx = walls.cells[0], ny = walls.cells[1];
    const unsigned int index[3] = {cell % nx, cell / nx % ny, cell / nx / ny};
    unsigned long long bits = mix((unsigned long long)cell ^ (unsigned long long)attempt << 40);
    for (int a = 0; a < 3; a++) {
        bits = mix(bits);
        const double share = 0.25 + 0.5 * (double)(bits >> 11) * 0x1p-53;
        out[a] = (double)(float)(((double)index[a] + share) * walls.cell_size[a]);
    }
}

// Whether a point lies exactly on a face of a wall cell.
__device__ __forceinline__ bool on_any(const WallsView& walls, const WallCellData& wall, const double point[3]) {
    for (unsigned int entry = wall.start; entry < wall.end; entry++) {
        const FaceData& face = walls.faces[walls.list[entry]];
        if (predicates::on_triangle(face.corners, face.dropped, point)) return true;
    }
    return false;
}

// By how much the winding number grows over a segment in a wall cell; false if it meets an edge.
__device__ __noinline__ bool change(const WallsView& walls, const WallCellData& wall, const double p[3],
                                    const double q[3], int& sum) {
    sum = 0;
    for (unsigned int entry = wall.start; entry < wall.end; entry++) {
        const FaceData& face = walls.faces[walls.list[entry]];
        if (face.weight == 0) continue;
        const predicates::Crossing found = predicates::crossing(face.corners, p, q);
        if (found == predicates::DEGENERATE) return false;
        if (found == predicates::INWARDS) sum += face.weight;
        if (found == predicates::OUTWARDS) sum -= face.weight;
    }
    return true;
}

// Winding number at a point of a wall cell, exactly; false on a wall.
__device__ __noinline__ bool winding_at(const WallsView& walls, const WallCellData& wall, const double point[3],
                                        int& winding) {
    if (on_any(walls, wall, point)) return false;
    const double reference[3] = {wall.reference[0], wall.reference[1], wall.reference[2]};
    int first, second;
    if (change(walls, wall, reference, point, first)) {
        winding = wall.winding + first;
        return true;
    }
    // An edge is in the way: round it by another point.
    for (unsigned int attempt = ATTEMPTS; attempt < 2 * ATTEMPTS; attempt++) {
        double detour[3];
        candidate(walls, wall.cell, attempt, detour);
        if (on_any(walls, wall, detour)) continue;
        if (change(walls, wall, reference, detour, first) && change(walls, wall, detour, point, second)) {
            winding = wall.winding + first + second;
            return true;
        }
    }
    return false;
}

// Whether gas can be at a point of the lattice: false inside a closed body, exactly on a wall, and outside the
// domain.
__device__ __noinline__ bool in_gas(const WallsView& walls, const long long point[3]) {
    for (int a = 0; a < 3; a++) {
        if (point[a] < 0 || point[a] > (long long)walls.cells[a] << STEP_BITS) return false;
    }
    const unsigned int state = walls.states[cell_of(walls, point)];
    if (state >= SOLID) return state == GAS;
    double place[3];
    int winding;
    position(walls, point, place);
    return winding_at(walls, walls.wall_cells[state], place, winding) && winding <= 0;
}

}  // namespace walls
