// Runs kernels/walls.cuh on the host: what to do is the argument, cases come by standard input and answers go
// to standard output, both binary. tests/cuda_walls.rs writes the cases and judges the answers.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "plain.h"
#include "walls.cuh"
// static_asserts, written by src/device/cuda/walls.rs.
#include "layout.h"

namespace {

void need(bool good, const char* what) {
    if (good) return;
    std::fprintf(stderr, "walls_main: %s\n", what);
    std::exit(1);
}

template <typename T>
T read_one() {
    T value;
    need(std::fread(&value, sizeof(T), 1, stdin) == 1, "the input ends early");
    return value;
}

// A count of elements, then those.
template <typename T>
std::vector<T> read_many() {
    std::vector<T> values(read_one<uint64_t>());
    need(std::fread(values.data(), sizeof(T), values.size(), stdin) == values.size(), "the input ends early");
    return values;
}

template <typename T>
void write_one(const T& value) {
    need(std::fwrite(&value, sizeof(T), 1, stdout) == 1, "the answer cannot be written");
}

struct Loaded {
    walls::WallsView view = read_one<walls::WallsView>();
    std::vector<walls::FaceData> faces = read_many<walls::FaceData>();
    std::vector<unsigned int> states = read_many<unsigned int>();
    std::vector<unsigned char> clearance = read_many<unsigned char>();
    std::vector<walls::WallCellData> wall_cells = read_many<walls::WallCellData>();
    std::vector<unsigned int> list = read_many<unsigned int>();
    std::vector<walls::SieveData> sieves = read_many<walls::SieveData>();
    std::vector<walls::TriangleData> triangles = read_many<walls::TriangleData>();

    Loaded() {
        view.faces = faces.data();
        view.states = states.data();
        view.clearance = clearance.data();
        view.wall_cells = wall_cells.data();
        view.list = list.data();
        view.sieves = sieves.data();
        view.triangles = triangles.data();
    }
};

// SplitMix64.
struct Random {
    unsigned long long state;
    unsigned long long bits() { return walls::mix(state += 0x9E3779B97F4A7C15ull); }
    double unit() { return (double)(bits() >> 11) * 0x1p-53; }
    void direction(double out[3]) {
        const double z = 2.0 * unit() - 1.0, angle = 6.283185307179586 * unit(), r = std::sqrt(1.0 - z * z);
        out[0] = r * std::cos(angle);
        out[1] = r * std::sin(angle);
        out[2] = z;
    }
    // On the side of a normal; every fourth one close to grazing.
    void direction_off(const double normal[3], double out[3]) {
        direction(out);
        const double along = out[0] * normal[0] + out[1] * normal[1] + out[2] * normal[2];
        const double keep = bits() % 4 == 0 ? 1e-6 : 1.0;
        for (int a = 0; a < 3; a++) out[a] += (keep * std::fabs(along) - along) * normal[a];
    }
};

struct Path {
    long long from[3], to[3];
};

// Answer to a path. A landing follows where there is a hit.
struct Met {
    double t, position[3], normal[3];
    long long landing[3];
    unsigned int found, triangle, front, put_back;
};

Met meet(const walls::WallsView& view, const Path& path) {
    Met met;
    std::memset(&met, 0, sizeof(met));
    double p[3], q[3];
    walls::position(view, path.from, p);
    walls::position(view, path.to, q);
    walls::Hit hit;
    if (!walls::first_hit(view, p, q, &hit)) return met;
    bool put_back;
    walls::landing(view, path.from, path.to, hit, met.landing, &put_back);
    met.found = 1;
    met.t = hit.t;
    met.triangle = hit.triangle;
    met.front = hit.front;
    met.put_back = put_back;
    std::memcpy(met.position, hit.position, sizeof(met.position));
    std::memcpy(met.normal, hit.normal, sizeof(met.normal));
    return met;
}

// One segment of a walk.
struct Segment {
    long long end[3];
    // 1 a hit, 2 put back, 4 the way to the landing is not free, 8 a hit although the clearance excludes it.
    unsigned int flags, in_gas;
};

// Walks particles about: straight on by about `length` m, put down in front of walls, off again on their side.
void walk(const walls::WallsView& view) {
    const double length = read_one<double>();
    Random random = {read_one<uint64_t>()};
    const uint64_t steps = read_one<uint64_t>();
    struct Start {
        long long at[3];
    };
    for (const Start& start : read_many<Start>()) {
        Path path;
        std::memcpy(path.from, start.at, sizeof(path.from));
        double direction[3];
        random.direction(direction);
        for (uint64_t step = 0; step < steps; step++) {
            const double way = 2.0 * length * random.unit();
            unsigned int moved = 0;
            for (int a = 0; a < 3; a++) {
                const long long end = (long long)view.cells[a] << walls::STEP_BITS;
                long long to = path.from[a] + std::llrint(direction[a] * way / view.step[a]);
                path.to[a] = to < 0 ? 0 : (to > end ? end : to);
                const long long cells = (path.to[a] >> walls::STEP_BITS) - (path.from[a] >> walls::STEP_BITS);
                moved = std::max(moved, (unsigned int)std::llabs(cells));
            }
            const Met met = meet(view, path);
            Segment segment = {{0, 0, 0}, 0, 0};
            if (met.found) {
                segment.flags = 1 | (met.put_back ? 2 : 0);
                double p[3];
                walls::position(view, path.from, p);
                if (!met.put_back && !walls::is_free(view, p, met.landing)) segment.flags |= 4;
                if (moved < walls::clearance(view, walls::cell_of(view, path.from))) segment.flags |= 8;
                std::memcpy(path.from, met.landing, sizeof(path.from));
                random.direction_off(met.normal, direction);
            } else {
                // A flight may end on the domain's upper face, but no position lies there: such a flight is not
                // made.
                bool inside = true;
                for (int a = 0; a < 3; a++) inside &= path.to[a] >> walls::STEP_BITS < view.cells[a];
                if (inside) std::memcpy(path.from, path.to, sizeof(path.from));
                if (!inside || random.bits() % 3 == 0) random.direction(direction);
            }
            std::memcpy(segment.end, path.from, sizeof(segment.end));
            segment.in_gas = walls::in_gas(view, path.from);
            write_one(segment);
        }
    }
}

}  // namespace

int main(int count, char** words) {
    const std::string what = count == 2 ? words[1] : "";
    if (what == "orient3d") {
        struct Case {
            double p[12];
        };
        for (const Case& c : read_many<Case>()) {
            write_one(predicates::orient3d(c.p, c.p + 3, c.p + 6, c.p + 9));
            write_one(predicates::orient3d_exact(c.p, c.p + 3, c.p + 6, c.p + 9));
        }
    } else if (what == "orient2d") {
        struct Case {
            double p[6];
        };
        for (const Case& c : read_many<Case>()) {
            write_one(predicates::orient2d(c.p, c.p + 2, c.p + 4, 0, 1));
            write_one(predicates::orient2d_exact(c.p, c.p + 2, c.p + 4, 0, 1));
        }
    } else if (what == "meet") {
        const Loaded loaded;
        for (const Path& path : read_many<Path>()) write_one(meet(loaded.view, path));
    } else if (what == "in_gas") {
        const Loaded loaded;
        struct Point {
            long long at[3];
        };
        for (const Point& point : read_many<Point>()) {
            const unsigned int cell = walls::cell_of(loaded.view, point.at);
            const unsigned int gas = walls::in_gas(loaded.view, point.at);
            const unsigned int clear = walls::clearance(loaded.view, cell);
            write_one(gas);
            write_one(cell);
            write_one(clear);
            write_one(walls::gas_fraction(loaded.view, cell));
        }
    } else if (what == "walk") {
        const Loaded loaded;
        walk(loaded.view);
    } else {
        need(false, "the argument must be orient3d, orient2d, meet, in_gas or walk");
    }
    return 0;
}
