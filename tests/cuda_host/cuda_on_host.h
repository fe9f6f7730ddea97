// Runs CUDA C++ on the host, for tests: one OS thread, a fiber for each CUDA thread of a block, blocks one by one.
// Knows nothing of the kernels. Include it first, then the .cu or .cuh files; they see what NVRTC gives them.
//
// It finds wrong logic, wrong indices (with -fsanitize=address), barriers that some threads never reach (it stops
// and says so) and shared memory read before it was written (it holds NaN). It cannot find data races: a thread runs
// on until it waits.
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <deque>
#include <functional>
#include <vector>

// -DSHIM_ASM_SWITCH=0 takes ucontext also where the switch in assembler is known.
#ifndef SHIM_ASM_SWITCH
#if defined(__x86_64__) && defined(__linux__)
#define SHIM_ASM_SWITCH 1
#else
#define SHIM_ASM_SWITCH 0
#endif
#endif
#if !SHIM_ASM_SWITCH
#include <ucontext.h>
#endif

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static
#define __forceinline__ inline
// Empty: libstdc++ writes __attribute__((__noinline__)) itself.
#define __noinline__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define SHARED static
#define DYNAMIC_SHARED(name) unsigned char* const name = shim::dynamic_shared()
#define PARAM(type) const type
#define OFFSET_OF(type, field) __builtin_offsetof(type, field)

// Vector types with the sizes and alignments of CUDA.
#define SHIM_VECTOR(type, base, align2, align4)                                                        \
    struct __attribute__((aligned(align2))) type##2 { base x, y; };                                    \
    struct type##3 { base x, y, z; };                                                                  \
    struct __attribute__((aligned(align4))) type##4 { base x, y, z, w; };                              \
    static inline type##2 make_##type##2(base x, base y) { return {x, y}; }                            \
    static inline type##3 make_##type##3(base x, base y, base z) { return {x, y, z}; }                 \
    static inline type##4 make_##type##4(base x, base y, base z, base w) { return {x, y, z, w}; }
SHIM_VECTOR(uchar, unsigned char, 2, 4)
SHIM_VECTOR(short, short, 4, 8)
SHIM_VECTOR(ushort, unsigned short, 4, 8)
SHIM_VECTOR(int, int, 8, 16)
SHIM_VECTOR(uint, unsigned int, 8, 16)
SHIM_VECTOR(longlong, long long, 16, 16)
SHIM_VECTOR(ulonglong, unsigned long long, 16, 16)
SHIM_VECTOR(float, float, 8, 16)
SHIM_VECTOR(double, double, 16, 16)
#undef SHIM_VECTOR

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

namespace shim {

[[noreturn]] static inline void stop(const char* message) {
    fflush(stdout);
    fprintf(stderr, "CUDA on the host: %s\n", message);
    abort();
}

static const size_t STACK_BYTES = 128 * 1024;
static const uint64_t STACK_MARK = 0x5AFE57ACC0DEu;

struct Fiber {
    char* stack = nullptr;
    uint3 index{};
    bool done = false;
#if SHIM_ASM_SWITCH
    void* pointer = nullptr;
#else
    ucontext_t context;
#endif
};

// All threads of the block, for __syncthreads and its kin.
struct BlockBarrier {
    unsigned arrived = 0, alive = 0, count = 0, result = 0;
    uint64_t generation = 0;
};

// The lanes of one mask, for warp intrinsics. `result` is what the lanes gave at the last release: it stays until all
// lanes of the mask come again, and so until all have read it.
struct LaneGroup {
    unsigned mask = 0, arrived = 0, present = 0;
    uint64_t given[32] = {}, result[32] = {};
    uint64_t generation = 0;
};

struct Warp {
    unsigned alive = 0;
    std::deque<LaneGroup> groups;
};

static std::vector<Fiber> fibers;
static std::vector<Warp> warps;
static BlockBarrier barrier;
static unsigned current;
static uint64_t progress;
static uint3 block_index;
static dim3 block_size, grid_size;
static std::function<void()>* kernel_body;
static std::vector<unsigned char> shared_bytes;
static unsigned char* shared_start;

#if SHIM_ASM_SWITCH
static void* scheduler_pointer;
extern "C" void cuda_on_host_switch(void** save, void* next);
// Keeps what the System V ABI asks a callee to keep, then changes stacks.
asm(R"(
.text
.globl cuda_on_host_switch
cuda_on_host_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
)");
static inline void wait_a_turn() { cuda_on_host_switch(&fibers[current].pointer, scheduler_pointer); }
static inline void resume(Fiber& fiber) { cuda_on_host_switch(&scheduler_pointer, fiber.pointer); }
#else
static ucontext_t scheduler_context;
static inline void wait_a_turn() { swapcontext(&fibers[current].context, &scheduler_context); }
static inline void resume(Fiber& fiber) { swapcontext(&scheduler_context, &fiber.context); }
#endif

static inline unsigned char* dynamic_shared() { return shared_start; }
static inline const uint3& thread_index() { return fibers[current].index; }
static inline unsigned lane() { return current & 31; }

static inline void release_block() {
    barrier.result = barrier.count;
    barrier.arrived = barrier.count = 0;
    barrier.generation++;
    progress++;
}

// Waits for the whole block; the number of threads whose `predicate` holds.
static inline unsigned sync_block(bool predicate) {
    const uint64_t before = barrier.generation;
    barrier.count += predicate;
    progress++;
    if (++barrier.arrived == barrier.alive) release_block();
    while (barrier.generation == before) wait_a_turn();
    return barrier.result;
}

static inline bool release_if_complete(LaneGroup& group, unsigned alive) {
    if (group.arrived == 0 || group.arrived != (group.mask & alive)) return false;
    memcpy(group.result, group.given, sizeof group.result);
    group.present = group.arrived;
    group.arrived = 0;
    group.generation++;
    progress++;
    return true;
}

// Gives a value to the lanes of `mask` and waits for theirs.
static inline LaneGroup& exchange(unsigned mask, uint64_t value) {
    Warp& warp = warps[current / 32];
    const unsigned bit = 1u << lane();
    if ((mask & bit) == 0) stop("a warp intrinsic was called by a lane that its mask leaves out");
    LaneGroup* group = nullptr;
    for (LaneGroup& known : warp.groups)
        if (known.mask == mask) group = &known;
    if (group == nullptr) {
        warp.groups.emplace_back();
        group = &warp.groups.back();
        group->mask = mask;
    }
    const uint64_t before = group->generation;
    group->given[lane()] = value;
    group->arrived |= bit;
    progress++;
    if (!release_if_complete(*group, warp.alive))
        while (group->generation == before) wait_a_turn();
    return *group;
}

template <class T>
static inline uint64_t to_word(T value) {
    static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
    uint64_t word = 0;
    memcpy(&word, &value, sizeof(T));
    return word;
}

// What lane `source` gave; bytes of 0xFF where it was not among the lanes.
template <class T>
static inline T shuffle(unsigned mask, T value, unsigned source) {
    const LaneGroup& group = exchange(mask, to_word(value));
    const uint64_t word = (group.present >> source & 1) != 0 ? group.result[source] : ~(uint64_t)0;
    T result;
    memcpy(&result, &word, sizeof(T));
    return result;
}

template <class T, class Operation>
static inline T reduce(unsigned mask, T value, Operation operation) {
    const LaneGroup& group = exchange(mask, to_word(value));
    bool first = true;
    T total{};
    for (unsigned source = 0; source < 32; source++) {
        if ((group.present >> source & 1) == 0) continue;
        T item;
        memcpy(&item, &group.result[source], sizeof(T));
        total = first ? item : operation(total, item);
        first = false;
    }
    return total;
}

static inline void fiber_main() {
    (*kernel_body)();
    fibers[current].done = true;
    progress++;
    Warp& warp = warps[current / 32];
    warp.alive &= ~(1u << lane());
    for (LaneGroup& group : warp.groups) release_if_complete(group, warp.alive);
    barrier.alive--;
    if (barrier.alive > 0 && barrier.arrived == barrier.alive) release_block();
    for (;;) wait_a_turn();
}

static inline void prepare(Fiber& fiber) {
    if (fiber.stack == nullptr) fiber.stack = (char*)malloc(STACK_BYTES);
    memcpy(fiber.stack, &STACK_MARK, sizeof STACK_MARK);
#if SHIM_ASM_SWITCH
    // On entry a function finds its stack 8 bytes off a multiple of 16: the return address lies there.
    void** top = (void**)(((uintptr_t)fiber.stack + STACK_BYTES) & ~(uintptr_t)15);
    *--top = nullptr;
    *--top = (void*)fiber_main;
    for (int kept = 0; kept < 6; kept++) *--top = nullptr;
    fiber.pointer = top;
#else
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack;
    fiber.context.uc_stack.ss_size = STACK_BYTES;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, fiber_main, 0);
#endif
    fiber.done = false;
}

static inline void run_block(unsigned threads) {
    barrier = BlockBarrier();
    barrier.alive = threads;
    for (size_t w = 0; w < warps.size(); w++) {
        const unsigned lanes = threads - 32 * (unsigned)w;
        warps[w].alive = lanes >= 32 ? 0xFFFFFFFFu : (1u << lanes) - 1;
        warps[w].groups.clear();
    }
    // 0xFF: NaN as a float, an index far outside as an integer.
    memset(shared_bytes.data(), 0xFF, shared_bytes.size());
    for (unsigned t = 0; t < threads; t++) {
        prepare(fibers[t]);
        fibers[t].index = {t % block_size.x, t / block_size.x % block_size.y, t / (block_size.x * block_size.y)};
    }
    for (unsigned left = threads; left > 0;) {
        const uint64_t before = progress;
        left = 0;
        for (unsigned t = 0; t < threads; t++) {
            if (fibers[t].done) continue;
            current = t;
            resume(fibers[t]);
            if (memcmp(fibers[t].stack, &STACK_MARK, sizeof STACK_MARK) != 0) stop("a fiber's stack overflowed");
            left += !fibers[t].done;
        }
        if (left > 0 && progress == before)
            stop("threads wait for others that never come (a barrier or warp intrinsic in divergent code)");
    }
}

// Runs `body` once for each thread of the grid: `shim::launch(grid, block, bytes, [&] { kernel(arguments); })`.
static inline void launch(dim3 grid, dim3 block, size_t dynamic_shared_bytes, std::function<void()> body) {
    const unsigned threads = block.x * block.y * block.z;
    if (threads == 0 || threads > 1024) stop("a block has 1 to 1024 threads");
    kernel_body = &body;
    block_size = block;
    grid_size = grid;
    shared_bytes.resize(dynamic_shared_bytes + 16);
    shared_start = (unsigned char*)(((uintptr_t)shared_bytes.data() + 15) & ~(uintptr_t)15);
    if (fibers.size() < threads) fibers.resize(threads);
    warps.resize((threads + 31) / 32);
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                block_index = {x, y, z};
                run_block(threads);
            }
}

template <class To, class From>
static inline To bits_as(From value) {
    static_assert(sizeof(To) == sizeof(From), "");
    To result;
    memcpy(&result, &value, sizeof(To));
    return result;
}

// Conversions as the hardware does them: saturating, NaN gives 0.
template <class To>
static inline To saturate(double value, double low, double high, To lowest, To highest) {
    if (value != value) return 0;
    if (value <= low) return lowest;
    return value >= high ? highest : (To)value;
}
static inline int to_int(double v) { return saturate<int>(v, -2147483648.0, 2147483647.0, INT32_MIN, INT32_MAX); }
static inline unsigned to_uint(double v) { return saturate<unsigned>(v, 0.0, 4294967295.0, 0, UINT32_MAX); }
static inline long long to_ll(double v) {
    return saturate<long long>(v, -9223372036854775808.0, 9223372036854775808.0, INT64_MIN, INT64_MAX);
}
static inline unsigned long long to_ull(double v) {
    return saturate<unsigned long long>(v, 0.0, 18446744073709551616.0, 0, UINT64_MAX);
}

}  // namespace shim

#include "cuda_on_host_math.h"

#define threadIdx (shim::thread_index())
#define blockIdx (shim::block_index)
#define blockDim (shim::block_size)
#define gridDim (shim::grid_size)
#define warpSize 32

static inline void __syncthreads() { shim::sync_block(false); }
static inline int __syncthreads_count(int predicate) { return (int)shim::sync_block(predicate != 0); }
static inline int __syncthreads_or(int predicate) { return shim::sync_block(predicate != 0) != 0; }
static inline int __syncthreads_and(int predicate) { return shim::sync_block(predicate == 0) == 0; }
static inline void __syncwarp(unsigned mask = 0xFFFFFFFFu) { shim::exchange(mask, 0); }
// The calling lane alone: any set of lanes that includes it is allowed.
static inline unsigned __activemask() { return 1u << shim::lane(); }
static inline void __threadfence() {}
static inline void __threadfence_block() {}
[[noreturn]] static inline void __trap() { shim::stop("__trap() was called"); }
static inline void __nanosleep(unsigned) {}

static inline unsigned __ballot_sync(unsigned mask, int predicate) {
    const shim::LaneGroup& group = shim::exchange(mask, predicate != 0);
    unsigned result = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        if ((group.present >> lane & 1) != 0 && group.result[lane] != 0) result |= 1u << lane;
    return result;
}
static inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
static inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate == 0) == 0; }

template <class T>
static inline T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
    const unsigned base = shim::lane() & ~(unsigned)(width - 1);
    return shim::shuffle(mask, value, base + ((unsigned)source & (unsigned)(width - 1)));
}
template <class T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    const unsigned place = shim::lane() & (unsigned)(width - 1);
    return shim::shuffle(mask, value, place >= delta ? shim::lane() - delta : shim::lane());
}
template <class T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    const unsigned place = shim::lane() & (unsigned)(width - 1);
    return shim::shuffle(mask, value, place + delta < (unsigned)width ? shim::lane() + delta : shim::lane());
}
template <class T>
static inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
    const unsigned source = shim::lane() ^ (unsigned)bits;
    const bool inside = source / (unsigned)width <= shim::lane() / (unsigned)width;
    return shim::shuffle(mask, value, inside ? source & 31 : shim::lane());
}
template <class T>
static inline unsigned __match_any_sync(unsigned mask, T value) {
    const uint64_t word = shim::to_word(value);
    const shim::LaneGroup& group = shim::exchange(mask, word);
    unsigned result = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        if ((group.present >> lane & 1) != 0 && group.result[lane] == word) result |= 1u << lane;
    return result;
}

#define SHIM_REDUCE(type)                                                                                \
    static inline type __reduce_add_sync(unsigned mask, type value) {                                    \
        return shim::reduce(mask, value, [](type a, type b) { return (type)((unsigned)a + (unsigned)b); }); \
    }                                                                                                    \
    static inline type __reduce_min_sync(unsigned mask, type value) {                                    \
        return shim::reduce(mask, value, [](type a, type b) { return a < b ? a : b; });                  \
    }                                                                                                    \
    static inline type __reduce_max_sync(unsigned mask, type value) {                                    \
        return shim::reduce(mask, value, [](type a, type b) { return a > b ? a : b; });                  \
    }
SHIM_REDUCE(unsigned)
SHIM_REDUCE(int)
#undef SHIM_REDUCE
static inline unsigned __reduce_and_sync(unsigned mask, unsigned value) {
    return shim::reduce(mask, value, [](unsigned a, unsigned b) { return a & b; });
}
static inline unsigned __reduce_or_sync(unsigned mask, unsigned value) {
    return shim::reduce(mask, value, [](unsigned a, unsigned b) { return a | b; });
}
static inline unsigned __reduce_xor_sync(unsigned mask, unsigned value) {
    return shim::reduce(mask, value, [](unsigned a, unsigned b) { return a ^ b; });
}

// Atomics: those types that CUDA has, no others. They return what was there before.
#define SHIM_ATOMIC(name, type, expression)                                                              \
    static inline type name(type* address, type value) {                                                 \
        const type old = *address;                                                                       \
        *address = (expression);                                                                         \
        return old;                                                                                      \
    }
#define SHIM_ATOMIC_NUMBER(type)                                                                         \
    SHIM_ATOMIC(atomicMin, type, value < old ? value : old)                                              \
    SHIM_ATOMIC(atomicMax, type, value > old ? value : old)                                              \
    SHIM_ATOMIC(atomicAnd, type, old & value)                                                            \
    SHIM_ATOMIC(atomicOr, type, old | value)                                                             \
    SHIM_ATOMIC(atomicXor, type, old ^ value)
#define SHIM_ATOMIC_SWAP(type)                                                                           \
    SHIM_ATOMIC(atomicExch, type, value)                                                                 \
    static inline type atomicCAS(type* address, type compare, type value) {                              \
        const type old = *address;                                                                       \
        if (old == compare) *address = value;                                                            \
        return old;                                                                                      \
    }
SHIM_ATOMIC_NUMBER(int)
SHIM_ATOMIC_NUMBER(unsigned)
SHIM_ATOMIC_NUMBER(long long)
SHIM_ATOMIC_NUMBER(unsigned long long)
SHIM_ATOMIC(atomicAdd, int, (int)((unsigned)old + (unsigned)value))
SHIM_ATOMIC(atomicAdd, unsigned, old + value)
SHIM_ATOMIC(atomicAdd, unsigned long long, old + value)
SHIM_ATOMIC(atomicAdd, float, old + value)
SHIM_ATOMIC(atomicAdd, double, old + value)
SHIM_ATOMIC(atomicSub, int, (int)((unsigned)old - (unsigned)value))
SHIM_ATOMIC(atomicSub, unsigned, old - value)
SHIM_ATOMIC(atomicExch, float, value)
SHIM_ATOMIC_SWAP(int)
SHIM_ATOMIC_SWAP(unsigned)
SHIM_ATOMIC_SWAP(unsigned long long)
#undef SHIM_ATOMIC
#undef SHIM_ATOMIC_NUMBER
#undef SHIM_ATOMIC_SWAP
