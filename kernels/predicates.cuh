//! Exact geometric predicates on points whose coordinates are doubles: no rounding decides a sign.
//! Knows nothing of grids, obstacles or particles. Mirrors src/physics/geometry/predicates.rs.
//!
//! A filter with an error bound decides nearly all cases; the rest are summed without any rounding as
//! expansions (Shewchuk 1997, "Adaptive precision floating-point arithmetic and fast robust geometric
//! predicates"). Coordinates must be 0 or of a size between 1e-50 and 1e30, so that products of three neither
//! underflow nor overflow.
#pragma once

namespace predicates {

// Intrinsics that the compiler never joins into fused operations: the error bounds and the tails depend on each
// rounding.
__device__ __forceinline__ double add(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ double sub(double a, double b) { return __dsub_rn(a, b); }
__device__ __forceinline__ double mul(double a, double b) { return __dmul_rn(a, b); }

__device__ __forceinline__ int sign(double value) { return (value > 0.0) - (value < 0.0); }

// Rounded sum; the exact sum is that plus `tail` (Knuth; Shewchuk theorem 7).
__device__ __forceinline__ double two_sum(double a, double b, double& tail) {
    const double sum = add(a, b);
    const double b_part = sub(sum, a);
    tail = add(sub(a, sub(sum, b_part)), sub(b, b_part));
    return sum;
}

// Rounded product; the exact product is that plus `tail`.
__device__ __forceinline__ double two_product(double a, double b, double& tail) {
    const double product = mul(a, b);
    tail = __fma_rn(a, b, -product);
    return product;
}

// An exact sum of doubles: parts by increasing size, none zero, none overlapping another.
//
// After `normalise` each part is at most half a unit in the last place of the next larger one, so that parts
// are 53 bits apart at least. The bits of a sum of products of three lie between 2^-654 and 2^305 (see the head
// of the file): 19 parts, and 4 more before the next `normalise`.
struct Expansion {
    double part[24];
    int count;

    // Adds one double (Shewchuk theorem 10, grow-expansion, leaving out zeros).
    __device__ __forceinline__ void grow(double value) {
        double sum = value;
        int kept = 0;
        for (int n = 0; n < count; n++) {
            double tail;
            sum = two_sum(sum, part[n], tail);
            if (tail != 0.0) part[kept++] = tail;
        }
        if (sum != 0.0) part[kept++] = sum;
        count = kept;
    }

    // As few parts as there can be (the downward pass of Shewchuk's figure 15, compress).
    __device__ __forceinline__ void normalise() {
        if (count < 2) return;
        double sum = part[count - 1];
        int bottom = count - 1;
        for (int n = count - 2; n >= 0; n--) {
            double tail;
            sum = two_sum(sum, part[n], tail);
            if (tail != 0.0) {
                part[bottom--] = sum;
                sum = tail;
            }
        }
        part[bottom] = sum;
        const int least = bottom;
        for (int n = least; n < count; n++) part[n - least] = part[n];
        count -= least;
    }

    __device__ __forceinline__ void add_product(double a, double b) {
        double tail;
        const double product = two_product(a, b, tail);
        grow(tail);
        grow(product);
        normalise();
    }

    __device__ __forceinline__ void add_product(double a, double b, double c) {
        if (a == 0.0 || b == 0.0 || c == 0.0) return;
        double low, tail;
        const double high = two_product(b, c, low);
        const double small = two_product(a, low, tail);
        grow(tail);
        grow(small);
        const double large = two_product(a, high, tail);
        grow(tail);
        grow(large);
        normalise();
    }

    // The sum, rounded, with the exact sign; 0 only where the sum is 0.
    __device__ __forceinline__ double value() const { return count > 0 ? part[count - 1] : 0.0; }
};

// det(a - d, b - d, c - d) without any rounding but the last: 24 products of three coordinates.
__device__ __noinline__ double orient3d_exact(const double* a, const double* b, const double* c,
                                            const double* d) {
    Expansion sum;
    sum.count = 0;
    for (int term = 0; term < 4; term++) {
        // det(a, b, c), then the same with d in place of each row, subtracted.
        const double* p = term == 1 ? d : a;
        const double* q = term == 2 ? d : b;
        const double* r = term == 3 ? d : c;
        const double way = term == 0 ? 1.0 : -1.0;
        for (int x = 0; x < 3; x++) {
            const int y = x == 2 ? 0 : x + 1;
            const int z = x == 0 ? 2 : x - 1;
            sum.add_product(way * p[x], q[y], r[z]);
            sum.add_product(-way * p[x], q[z], r[y]);
        }
    }
    return sum.value();
}

// det(a - d, b - d, c - d), rounded, with the exact sign: negative where d sees a, b, c counter-clockwise.
__device__ __noinline__ double orient3d(const double* a, const double* b, const double* c, const double* d) {
    const double adx = sub(a[0], d[0]), ady = sub(a[1], d[1]), adz = sub(a[2], d[2]);
    const double bdx = sub(b[0], d[0]), bdy = sub(b[1], d[1]), bdz = sub(b[2], d[2]);
    const double cdx = sub(c[0], d[0]), cdy = sub(c[1], d[1]), cdz = sub(c[2], d[2]);
    const double bc = mul(bdx, cdy), cb = mul(cdx, bdy);
    const double ca = mul(cdx, ady), ac = mul(adx, cdy);
    const double ab = mul(adx, bdy), ba = mul(bdx, ady);
    const double det = add(add(mul(adz, sub(bc, cb)), mul(bdz, sub(ca, ac))), mul(cdz, sub(ab, ba)));
    const double pa = mul(add(fabs(bc), fabs(cb)), fabs(adz));
    const double pb = mul(add(fabs(ca), fabs(ac)), fabs(bdz));
    const double pc = mul(add(fabs(ab), fabs(ba)), fabs(cdz));
    const double permanent = add(add(pa, pb), pc);
    // (7 + 56 u) u with u = 2^-53: Shewchuk 1997, section 4.3.
    const double bound = mul(7.771561172376103e-16, permanent);
    if (det > bound || -det > bound) return det;
    return orient3d_exact(a, b, c, d);
}

// det(a - c, b - c) in the plane of the axes x and y, without any rounding but the last.
__device__ __noinline__ double orient2d_exact(const double* a, const double* b, const double* c, int x, int y) {
    Expansion sum;
    sum.count = 0;
    sum.add_product(a[x], b[y]);
    sum.add_product(-a[y], b[x]);
    sum.add_product(b[x], c[y]);
    sum.add_product(-b[y], c[x]);
    sum.add_product(c[x], a[y]);
    sum.add_product(-c[y], a[x]);
    return sum.value();
}

// det(a - c, b - c) in the plane of the axes x and y, rounded, with the exact sign: positive where a, b, c run
// counter-clockwise.
__device__ __noinline__ double orient2d(const double* a, const double* b, const double* c, int x, int y) {
    const double left = mul(sub(a[x], c[x]), sub(b[y], c[y]));
    const double right = mul(sub(a[y], c[y]), sub(b[x], c[x]));
    const double det = sub(left, right);
    // (3 + 16 u) u with u = 2^-53: Shewchuk 1997, section 4.2.
    const double bound = mul(3.3306690738754716e-16, add(fabs(left), fabs(right)));
    if (det > bound || -det > bound) return det;
    return orient2d_exact(a, b, c, x, y);
}

// What an exact signed crossing test of a segment found.
enum Crossing {
    // The segment does not meet the triangle.
    MISSES = 0,
    // It passes through the inside from front to back.
    INWARDS = 1,
    // It passes through the inside from back to front.
    OUTWARDS = 2,
    // It meets an edge or a corner, or lies in the plane: another segment must be chosen.
    DEGENERATE = 3,
};

// Triangles are nine doubles: three corners, counter-clockwise seen from the front.

// The side of a triangle's plane on which a point lies: 1 the front, -1 the back, 0 in the plane.
__device__ __forceinline__ int side(const double* corners, const double* point) {
    return -sign(orient3d(corners, corners + 3, corners + 6, point));
}

// The sign with which the line from p to q passes the edge from a to b.
__device__ __forceinline__ int passes(const double* p, const double* q, const double* a, const double* b) {
    return -sign(orient3d(p, q, a, b));
}

// Signs with which the line from p to q passes the three edges. False where two are opposite: it misses.
__device__ __forceinline__ bool edges(const double* corners, const double* p, const double* q, int signs[3]) {
    signs[0] = passes(p, q, corners, corners + 3);
    signs[1] = passes(p, q, corners + 3, corners + 6);
    if (signs[0] * signs[1] < 0) return false;
    signs[2] = passes(p, q, corners + 6, corners);
    return signs[0] * signs[2] >= 0 && signs[1] * signs[2] >= 0;
}

// Whether the line through p and q, which does not lie in the plane, meets the triangle, edges and corners
// included.
__device__ __forceinline__ bool pierces(const double* corners, const double* p, const double* q) {
    int signs[3];
    return edges(corners, p, q, signs);
}

// Which way a, b, c turn, seen along an axis.
__device__ __forceinline__ double turn(const double* a, const double* b, const double* c, int dropped) {
    return orient2d(a, b, c, dropped == 2 ? 0 : dropped + 1, dropped == 0 ? 2 : dropped - 1);
}

// Whether a point known to lie in the plane lies in the triangle, edges included. `dropped`: an axis along
// which the triangle is not edge-on.
__device__ __forceinline__ bool holds(const double* corners, int dropped, const double* point) {
    bool left = false, right = false;
    for (int n = 0; n < 3; n++) {
        const int turned = sign(turn(corners + 3 * n, corners + 3 * (n == 2 ? 0 : n + 1), point, dropped));
        left |= turned > 0;
        right |= turned < 0;
    }
    return !(left && right);
}

// Whether a point lies exactly on the triangle, edges included.
__device__ __forceinline__ bool on_triangle(const double* corners, int dropped, const double* point) {
    return side(corners, point) == 0 && holds(corners, dropped, point);
}

// Fraction of the way from p to q of a point on their line. False if it is not between them, which is exact.
__device__ __forceinline__ bool along(const double* p, const double* q, const double* point, double& t) {
    int axis = 0;
    for (int n = 0; n < 3; n++) {
        if (!(point[n] >= fmin(p[n], q[n]) && point[n] <= fmax(p[n], q[n]))) return false;
        if (fabs(q[n] - p[n]) >= fabs(q[axis] - p[axis])) axis = n;
    }
    const double length = q[axis] - p[axis];
    t = (point[axis] - p[axis]) / length;
    return length != 0.0;
}

// Whether a segment in the triangle's plane meets the triangle, exactly, and where first, as a fraction of the
// way from p to q, rounded.
__device__ __noinline__ bool meets_in_plane(const double* corners, int dropped, const double* p, const double* q,
                                            double& first) {
    if (holds(corners, dropped, p)) {
        first = 0.0;
        return true;
    }
    first = 1.0;
    bool found = holds(corners, dropped, q);
    for (int n = 0; n < 3; n++) {
        const double* a = corners + 3 * n;
        const double* b = corners + 3 * (n == 2 ? 0 : n + 1);
        const double of_p = turn(a, b, p, dropped), of_q = turn(a, b, q, dropped);
        const int of_a = sign(turn(p, q, a, dropped)), of_b = sign(turn(p, q, b, dropped));
        if (of_p == 0.0 && of_q == 0.0 && of_a == 0 && of_b == 0) {
            // On one line: the nearer corner of the edge, if the segment reaches it.
            double t;
            if (along(p, q, a, t)) {
                first = fmin(first, t);
                found = true;
            }
            if (along(p, q, b, t)) {
                first = fmin(first, t);
                found = true;
            }
        } else if (sign(of_p) * sign(of_q) <= 0 && of_a * of_b <= 0) {
            first = fmin(first, of_p / (of_p - of_q));
            found = true;
        }
    }
    return found;
}

// Signed crossing of a segment whose ends are known not to lie on the triangle.
__device__ __forceinline__ Crossing crossing(const double* corners, const double* p, const double* q) {
    const int from = side(corners, p), to = side(corners, q);
    if (from == 0 && to == 0) return DEGENERATE;
    // An end in the plane is the only point of the segment there, and it is not on the triangle.
    if (from * to >= 0) return MISSES;
    int signs[3];
    if (!edges(corners, p, q, signs)) return MISSES;
    if (signs[0] == 0 || signs[1] == 0 || signs[2] == 0) return DEGENERATE;
    return from > 0 ? INWARDS : OUTWARDS;
}

}  // namespace predicates
