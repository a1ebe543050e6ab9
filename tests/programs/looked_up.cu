// What is added where it was looked up: skinning with bones, observations by cameras, a table of pairs of halves, weights and rows by kind.
#include <cstdint>
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

struct vec3 {
    float x, y, z;
    __host__ __device__ vec3(float x, float y, float z) : x(x), y(y), z(z) {}
};
__host__ __device__ inline vec3 operator+(const vec3 &a, const vec3 &b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__host__ __device__ inline vec3 operator*(float s, const vec3 &a) { return {s * a.x, s * a.y, s * a.z}; }
__host__ __device__ inline vec3 cross(const vec3 &a, const vec3 &b)
{
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

struct Bone {
    float4 turn; // a quaternion, w last
    vec3 shift;
};

__global__ void skin(const vec3 *__restrict__ rest, const Bone *__restrict__ skeleton, const float4 *__restrict__ weights,
                     const int4 *__restrict__ bones, vec3 *__restrict__ posed, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float w[4] = {weights[i].x, weights[i].y, weights[i].z, weights[i].w};
    const int b[4] = {bones[i].x, bones[i].y, bones[i].z, bones[i].w};
    vec3 sum(0.f, 0.f, 0.f);
    for (int k = 0; k < 4; ++k) {
        const Bone bone = skeleton[b[k]];
        const float4 q = bone.turn;
        const float scale = rsqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
        const vec3 axis = scale * vec3(q.x, q.y, q.z), once = 2.f * cross(axis, rest[i]);
        sum = sum + w[k] * (rest[i] + (q.w * scale) * once + cross(axis, once) + bone.shift);
    }
    posed[i] = sum;
}

struct Camera {
    float focal, k1, k2, cx, cy;
    vec3 place;
};

__global__ void observe(const vec3 *__restrict__ points, const Camera *__restrict__ cameras, const int *__restrict__ seen_by,
                        float2 *__restrict__ pixels, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const Camera camera = cameras[seen_by[i]];
    const vec3 at = points[i] + (-1.f) * camera.place;
    const float x = at.x / at.z, y = at.y / at.z, r2 = x * x + y * y;
    const float scale = camera.focal * (1.f + r2 * (camera.k1 + r2 * camera.k2));
    pixels[i] = make_float2(scale * x + camera.cx, scale * y + camera.cy);
}

template <class T>
__global__ void features(const float2 *__restrict__ at, const T *__restrict__ table, T *__restrict__ out, int side, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float u = at[i].x * (side - 1), v = at[i].y * (side - 1);
    const int x = min(int(u), side - 2), y = min(int(v), side - 2);
    float sum[2] = {0.f, 0.f};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const float w = (k & 1 ? u - x : 1 - (u - x)) * (k & 2 ? v - y : 1 - (v - y));
        const int place = ((y + (k >> 1)) * side + x + (k & 1)) * 2;
        sum[0] += w * float(table[place]);
        sum[1] += w * float(table[place + 1]);
    }
    out[2 * i] = T(sum[0]);
    out[2 * i + 1] = T(sum[1]);
}

// Nothing here says how many kinds or neighbours there are.
__global__ void embed(const int *__restrict__ kind, const int *__restrict__ neighbour, const float *__restrict__ weight,
                      const float *__restrict__ row, const float *__restrict__ charge, int width, float *__restrict__ out,
                      int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.f;
    for (int c = 0; c < width; ++c)
        sum += row[kind[i] * width + c] * (c + 1);
    out[i] = weight[kind[i]] * charge[neighbour[i]] * tanhf(sum);
}

__global__ void splat(const float2 *__restrict__ at, const __half2 *__restrict__ colour, __half2 *__restrict__ image, int side,
                      int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float u = at[i].x * (side - 1);
    const int x = min(int(u), side - 2);
    atomicAdd(&image[x], __hmul2(colour[i], __float2half2_rn(1 - (u - x))));
    atomicAdd(&image[x + 1], __hmul2(colour[i], __float2half2_rn(u - x)));
}

int main()
{
    float2 *at;
    __half *table, *out;
    cudaMalloc(&at, 64 * sizeof(float2));
    cudaMalloc(&table, 2 * 64 * sizeof(__half));
    cudaMalloc(&out, 2 * 64 * sizeof(__half));
    cudaMemset(at, 0, 64 * sizeof(float2));
    cudaMemset(table, 0, 2 * 64 * sizeof(__half));
    features<__half><<<1, 64>>>(at, table, out, 8, 64);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
