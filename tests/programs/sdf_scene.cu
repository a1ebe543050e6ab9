// Signed distance fields: a scene as a small program of primitives and blends, sphere tracing, normals by the
// tetrahedron trick, soft shadow, ambient occlusion; a differentiable silhouette loss.
#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

namespace sdf {

struct Vec3 {
    float x = 0.f, y = 0.f, z = 0.f;
};
__device__ inline Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ inline Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ inline Vec3 operator*(Vec3 a, float s) { return {a.x * s, a.y * s, a.z * s}; }
__device__ inline float dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline float length(Vec3 a) { return sqrtf(dot(a, a) + 1e-12f); }
__device__ inline Vec3 unit(Vec3 a) { return a * (1.f / length(a)); }

enum Kind : int { kSphere, kBox, kTorus, kCapsule };

struct Primitive {
    Kind kind;
    Vec3 position;
    float size[3];
    float blend;      // radius of the smooth union with what came before
};

__device__ float smooth_min(float a, float b, float k)
{
    if (k <= 0.f) return fminf(a, b);
    const float h = fmaxf(k - fabsf(a - b), 0.f) / k;
    return fminf(a, b) - h * h * h * k * (1.f / 6.f);
}

__device__ float distance(const Primitive &p, Vec3 at)
{
    const Vec3 q = at - p.position;
    switch (p.kind) {
    case kSphere:
        return length(q) - p.size[0];
    case kBox: {
        const float dx = fabsf(q.x) - p.size[0], dy = fabsf(q.y) - p.size[1], dz = fabsf(q.z) - p.size[2];
        const Vec3 outside = {fmaxf(dx, 0.f), fmaxf(dy, 0.f), fmaxf(dz, 0.f)};
        return length(outside) + fminf(fmaxf(dx, fmaxf(dy, dz)), 0.f);
    }
    case kTorus: {
        const float ring = hypotf(q.x, q.z) - p.size[0];
        return hypotf(ring, q.y) - p.size[1];
    }
    case kCapsule: {
        const float t = fminf(fmaxf(q.y / p.size[1], 0.f), 1.f);
        return length({q.x, q.y - t * p.size[1], q.z}) - p.size[0];
    }
    }
    return 1e10f;
}

struct Scene {
    const Primitive *primitives;
    int count;
    float floor;

    __device__ float operator()(Vec3 p) const
    {
        float d = p.y - floor;
        for (int i = 0; i < count; ++i) d = smooth_min(d, distance(primitives[i], p), primitives[i].blend);
        return d;
    }
    __device__ Vec3 normal(Vec3 p, float e) const
    {
        const Vec3 a = {e, -e, -e}, b = {-e, -e, e}, c = {-e, e, -e}, d = {e, e, e};
        const Vec3 n = a * (*this)(p + a) + b * (*this)(p + b) + c * (*this)(p + c) + d * (*this)(p + d);
        return unit(n);
    }
};

__device__ float trace(const Scene &scene, Vec3 from, Vec3 towards, int steps, float far, float &nearest)
{
    float t = 0.f;
    nearest = far;
    for (int i = 0; i < steps; ++i) {
        const float d = scene(from + towards * t);
        nearest = fminf(nearest, d / (t + 0.1f));
        if (d < 1e-5f * t || t > far) break;
        t += 0.9f * d;
    }
    return t;
}

__device__ float shadow(const Scene &scene, Vec3 p, Vec3 light, float sharpness)
{
    float lit = 1.f;
    for (float t = 0.1f; t < 3.f; t += 0.25f) lit = fminf(lit, 0.5f + 0.5f * sharpness * scene(p + light * t) / t);
    lit = lit < 0.f ? 0.f : lit;
    return lit * lit * (3.f - 2.f * lit);
}

__device__ float occlusion(const Scene &scene, Vec3 p, Vec3 n)
{
    float sum = 0.f, weight = 1.f;
#pragma unroll
    for (int i = 1; i <= 4; ++i) {
        sum += weight * (0.1f * i - scene(p + n * (0.1f * i)));
        weight *= 0.6f;
    }
    return 1.f / (1.f + expf(2.f * sum - 1.f));
}

__global__ void shade(Scene scene, Vec3 eye, Vec3 light, float *image, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const Vec3 ray = unit({(x + 0.5f) / width - 0.5f, 0.4f - (y + 0.5f) / height, 1.f});
    float nearest;
    const float t = trace(scene, eye, ray, 48, 20.f, nearest);
    float value = 0.1f * (1.f + ray.y);
    if (t < 20.f) {
        const Vec3 p = eye + ray * t, n = scene.normal(p, 5e-2f);
        const float diffuse = fmaxf(dot(n, unit(light)), 0.05f);
        value = diffuse * shadow(scene, p + n * 0.05f, unit(light), 4.f) * occlusion(scene, p, n);
    }
    image[y * width + x] = value;
}

// a smooth mask from the nearest approach of each ray, compared with a wanted one
__global__ void silhouette(Scene scene, Vec3 eye, const float *wanted, float *mask, float *loss, float sharpness, int width,
                           int height)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height) return;
    const int x = i % width, y = i / width;
    const Vec3 ray = unit({(x + 0.5f) / width - 0.5f, (y + 0.5f) / height - 0.5f, 1.f});
    float best = 1e3f;
    for (int s = 0; s < 16; ++s) {
        const float d = scene(eye + ray * (0.5f + 0.35f * s));
        best = smooth_min(best, d, 0.2f);
    }
    mask[i] = 1.f / (1.f + __expf(sharpness * best));
    const float r = mask[i] - wanted[i];
    atomicAdd(loss, r * r / (width * height));
}

}  // namespace sdf

int main()
{
    std::vector<sdf::Primitive> things = {{sdf::kSphere, {0, 0, 4}, {1, 0, 0}, 0.f}, {sdf::kBox, {1, 0, 4}, {0.5, 0.5, 0.5}, 0.3f}};
    sdf::Primitive *d;
    float *image, host[4];
    cudaMalloc(&d, things.size() * sizeof(sdf::Primitive));
    cudaMemcpy(d, things.data(), things.size() * sizeof(sdf::Primitive), cudaMemcpyHostToDevice);
    cudaMalloc(&image, 64 * 64 * sizeof(float));
    sdf::shade<<<dim3(8, 8), dim3(8, 8)>>>({d, 2, -1.f}, {0, 0, 0}, {1, 1, -1}, image, 64, 64);
    cudaMemcpy(host, image, sizeof(host), cudaMemcpyDeviceToHost);
    std::printf("%f\n", host[0]);
}
