//! Copy, read and write rates of a card's memory: what `knudsen bench` holds the step's speed against.
//! Knows nothing of a gas.

extern "C" __global__ void fill(float4 *to, unsigned long long count) {
    const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        to[i] = make_float4((float)i, 2.0f, 3.0f, 4.0f);
}

extern "C" __global__ void copy_float4(const float4 *from, float4 *to, unsigned long long count) {
    const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        to[i] = from[i];
}

// Six arrays side by side, as a particle kept as a structure of arrays is copied; count: numbers of one array.
extern "C" __global__ void copy_six(const float *from, float *to, unsigned long long count) {
    const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        float held[6];
#pragma unroll
        for (int k = 0; k < 6; k++) held[k] = from[i + k * count];
#pragma unroll
        for (int k = 0; k < 6; k++) to[i + k * count] = held[k];
    }
}

extern "C" __global__ void read_float4(const float4 *from, float *to, unsigned long long count) {
    const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        const float4 read = from[i];
        sum += read.x + read.y + read.z + read.w;
    }
    // Never so: without a use the compiler would leave out the reads.
    if (sum == -1.0f) to[0] = sum;
}
