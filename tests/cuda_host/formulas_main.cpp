// The device functions of the gas on the host: reads packed records on stdin, writes packed results on stdout.
// The first argument names the case; tests/cuda_functions.rs knows what goes in and what must come out.
#include "cuda_on_host.h"

#include "collide.cuh"

// Little-endian records without padding, as the test writes them.
template <class T>
static bool take(T& value) {
    return fread(&value, sizeof(T), 1, stdin) == 1;
}
template <class T>
static void put(T value) {
    if (fwrite(&value, sizeof(T), 1, stdout) != 1) shim::stop("cannot write a result");
}
static void put3(float3 v) {
    put(v.x);
    put(v.y);
    put(v.z);
}
static bool take3(float3& v) { return take(v.x) && take(v.y) && take(v.z); }

// Seed, step and index; purpose is Test.
static bool take_stream(Stream& rng, u32 first_block = 0) {
    u64 seed, step;
    u32 index;
    if (!(take(seed) && take(step) && take(index))) return false;
    rng = stream_new(seed, step, PURPOSE_TEST, index, first_block);
    return true;
}

static void philox_case() {
    u32 c[4], k[2];
    while (take(c) && take(k)) put(philox(c[0], c[1], c[2], c[3], k[0], k[1]));
}

static void stream_case() {
    u64 seed, step;
    u32 purpose, index;
    while (take(seed) && take(step) && take(purpose) && take(index)) {
        Stream rng = stream_new(seed, step, purpose, index);
        for (int word = 0; word < 9; word++) put(rng.bits());
        put(rng.unit());
        put(rng.unit_f64());
        put(rng.below(1000));
        put(rng.round_to_whole(123456.7));
        put(rng.round_to_whole(0.25));
        Stream later = stream_new(seed, step, purpose, index, 2);
        put(later.bits());
        put(random_block(seed, step, purpose, index, 1));
    }
}

static void purposes_case() {
    for (u32 purpose : {PURPOSE_FILL, PURPOSE_COLLIDE, PURPOSE_WALL, PURPOSE_INFLOW, PURPOSE_TEST}) put(purpose);
}

static void variates_case() {
    Stream rng;
    while (take_stream(rng)) {
        const float2 pair = gauss_pair(rng);
        put(pair.x);
        put(pair.y);
        put3(gauss_triple(rng));
        put3(direction(rng));
        put(effusion(rng));
        put(rng.bits());
    }
}

// Sine, cosine and polar sine of every value that `unit_of` can give.
static void lattice_case() {
    for (u64 word = 256; word < (1ull << 32); word += 512) {
        const float u = unit_of((u32)word);
        float sine, cosine;
        sincos_turn(u, sine, cosine);
        put(sine);
        put(cosine);
        put(sine_of(2.0f * u - 1.0f));
    }
}

static void inflow_case() {
    Stream rng;
    float s;
    while (take_stream(rng) && take(s)) {
        put(inflow_speed(s, rng));
        put(rng.bits());
    }
}

static void poisson_case() {
    Stream rng;
    double mean;
    while (take_stream(rng) && take(mean)) {
        put(poisson(mean, rng));
        put(rng.bits());
    }
}

static void rate_case() {
    PairModel model;
    float square;
    while (take(model) && take(square)) put(pair_rate(model, square));
}

static void scatter_case() {
    PairModel model;
    float3 a, b;
    u32 word1, word2;
    while (take(model) && take3(a) && take3(b) && take(word1) && take(word2)) {
        scatter(model, relative_speed_squared(a, b), a, b, word1, word2);
        put3(a);
        put3(b);
    }
}

static void reflect_case() {
    Stream rng;
    WallLaw law;
    float3 velocity;
    float rotation;
    double normal[3];
    while (take_stream(rng) && take(law) && take3(velocity) && take(rotation) && take(normal)) {
        reflect(law, velocity, rotation, make_double3(normal[0], normal[1], normal[2]), rng);
        put3(velocity);
        put(rotation);
        put(rng.bits());
    }
}

// n and a count of keys: for each key the permutation of 0..n, as u16.
static void permute_case() {
    u32 n, keys, seed;
    while (take(n) && take(keys) && take(seed))
        for (u32 pass = 0; pass < keys; pass++) {
            const uint4 first = random_block(seed, n, PURPOSE_TEST, pass, 0);
            const uint4 second = random_block(seed, n, PURPOSE_TEST, pass, 1);
            const PermKey key = permutation_key(n, first, second);
            for (u32 i = 0; i < n; i++) put((uint16_t)permute(i, n, key));
        }
}

// Exercises the shim itself, in blocks of two dimensions: see the test for what must come out.
__global__ void shim_kernel(const u32* input, u32* output, u32* total, double* sum) {
    DYNAMIC_SHARED(bytes);
    SHARED u32 block_total;
    u32* const values = (u32*)bytes;
    const u32 thread = threadIdx.y * blockDim.x + threadIdx.x;
    const u32 threads = blockDim.x * blockDim.y;
    const u32 global = (blockIdx.y * gridDim.x + blockIdx.x) * threads + thread;
    const u32 lane = thread % 32;
    if (thread == 0) block_total = 0;
    __syncthreads();
    const u32 value = input[global];
    atomicAdd(&block_total, value);
    u32 scan = value;
    for (u32 step = 1; step < 32; step *= 2) {
        const u32 before = __shfl_up_sync(FULL_MASK, scan, step);
        if (lane >= step) scan += before;
    }
    values[threads - 1 - thread] = scan;
    __syncthreads();
    const u32 mirrored = values[thread];
    const u32 odd = __ballot_sync(FULL_MASK, value & 1);
    const u32 same = __match_any_sync(FULL_MASK, value % 3);
    // Divergent halves, each with its own mask, and a lane that leaves early.
    u32 half_sum;
    if (lane < 16)
        half_sum = __reduce_add_sync(0x0000FFFFu, value);
    else
        half_sum = __reduce_max_sync(0xFFFF0000u, value);
    output += global * 8;
    output[0] = scan;
    output[1] = mirrored;
    output[2] = odd;
    output[3] = same;
    output[4] = half_sum;
    output[5] = (u32)__syncthreads_count(value > 500);
    output[6] = block_total;
    if (lane == 31) return;
    output[7] = __shfl_down_sync(0x7FFFFFFFu, value, 1);
    __syncthreads();
    atomicMax(total, value);
    atomicAdd(sum, (double)value);
}

static void shim_case() {
    const u32 blocks_x = 2, blocks_y = 3, threads_x = 16, threads_y = 6;
    const u32 count = blocks_x * blocks_y * threads_x * threads_y;
    std::vector<u32> input(count), output(count * 8);
    for (u32& value : input)
        if (!take(value)) shim::stop("too little input");
    u32 total = 0;
    double sum = 0.0;
    shim::launch(dim3(blocks_x, blocks_y), dim3(threads_x, threads_y), threads_x * threads_y * 4,
                 [&] { shim_kernel(input.data(), output.data(), &total, &sum); });
    for (u32 value : output) put(value);
    put(total);
    put(sum);
}

// Half of a warp waits for the other half, which never comes: the shim must stop.
static void deadlock_case() {
    shim::launch(1, 32, 0, [] {
        if (threadIdx.x < 16)
            __syncwarp();
        else
            __syncthreads();
    });
}

int main(int count, char** arguments) {
    const char* const name = count > 1 ? arguments[1] : "";
    const struct {
        const char* name;
        void (*run)();
    } cases[] = {
        {"philox", philox_case},   {"stream", stream_case},   {"purposes", purposes_case},
        {"variates", variates_case}, {"lattice", lattice_case}, {"inflow", inflow_case},
        {"poisson", poisson_case}, {"rate", rate_case},       {"scatter", scatter_case},
        {"reflect", reflect_case}, {"permute", permute_case}, {"shim", shim_case},
        {"deadlock", deadlock_case},
    };
    for (const auto& known : cases)
        if (strcmp(known.name, name) == 0) {
            known.run();
            return 0;
        }
    fprintf(stderr, "no case is called '%s'\n", name);
    return 2;
}
