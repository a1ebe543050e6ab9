// A small path tracer: spheres and a ground plane, diffuse and glossy surfaces, its own random numbers, Russian
// roulette by depth, accumulation in place. Scene in an array of structs.
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_DEPTH 4
#define EPS 1e-3f

struct Ray { float3 o, d; };
struct Hit { float t; float3 p, n; int id; };

enum Surface { DIFFUSE, MIRROR, GLOSSY };

struct Sphere {
    float3 center;
    float  radius;
    float3 color;
    float3 emission;
    float  roughness;
    int    surface;
};

inline __host__ __device__ float3 f3(float x, float y, float z) { return make_float3(x, y, z); }
inline __host__ __device__ float3 operator+(const float3& a, const float3& b) { return f3(a.x + b.x, a.y + b.y, a.z + b.z); }
inline __host__ __device__ float3 operator-(const float3& a, const float3& b) { return f3(a.x - b.x, a.y - b.y, a.z - b.z); }
inline __host__ __device__ float3 operator*(const float3& a, float b) { return f3(a.x * b, a.y * b, a.z * b); }
inline __host__ __device__ float3 operator*(const float3& a, const float3& b) { return f3(a.x * b.x, a.y * b.y, a.z * b.z); }
inline __host__ __device__ float3& operator+=(float3& a, const float3& b) { a = a + b; return a; }
inline __host__ __device__ float3& operator*=(float3& a, const float3& b) { a = a * b; return a; }
inline __host__ __device__ float dot(const float3& a, const float3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline __host__ __device__ float3 cross(const float3& a, const float3& b) {
    return f3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
inline __host__ __device__ float3 norm(const float3& a) { return a * (1.0f / sqrtf(dot(a, a))); }

struct Rng {
    uint32_t state;
    __device__ Rng(uint32_t seed) : state(seed * 747796405u + 2891336453u) {}
    __device__ float next() {
        state = state * 747796405u + 2891336453u;
        uint32_t w = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
        w = (w >> 22) ^ w;
        return (w >> 8) * (1.0f / 16777216.0f);
    }
};

__device__ float hit_sphere(const Sphere& s, const Ray& r) {
    float3 oc = r.o - s.center;
    float b = dot(oc, r.d);
    float c = dot(oc, oc) - s.radius * s.radius;
    float disc = b * b - c;
    if (disc <= 0.0f) return -1.0f;
    float q = sqrtf(disc);
    if (-b - q > EPS) return -b - q;
    if (-b + q > EPS) return -b + q;
    return -1.0f;
}

__device__ bool intersect(const Sphere* spheres, int n, const Ray& r, Hit& hit) {
    hit.t = 1e20f;
    hit.id = -1;
    for (int i = 0; i < n; i++) {
        float t = hit_sphere(spheres[i], r);
        if (t > 0.0f && t < hit.t) {
            hit.t = t;
            hit.id = i;
        }
    }
    if (hit.id < 0) return false;
    hit.p = r.o + r.d * hit.t;
    hit.n = norm(hit.p - spheres[hit.id].center);
    if (dot(hit.n, r.d) > 0.0f) hit.n = hit.n * -1.0f;
    return true;
}

__device__ float3 cosine_direction(const float3& n, float u1, float u2) {
    float3 a = fabsf(n.x) > 0.9f ? f3(0, 1, 0) : f3(1, 0, 0);
    float3 t = norm(cross(n, a)), b = cross(n, t);
    float r = sqrtf(u1), phi = 6.2831853f * u2, s, c;
    __sincosf(phi, &s, &c);
    return norm(t * (r * c) + b * (r * s) + n * sqrtf(fmaxf(0.0f, 1.0f - u1)));
}

__device__ float3 radiance(Ray ray, const Sphere* spheres, int n, float3 sky, Rng& rng) {
    float3 light = f3(0, 0, 0), throughput = f3(1, 1, 1);
    for (int depth = 0; depth < MAX_DEPTH; depth++) {
        Hit hit;
        if (!intersect(spheres, n, ray, hit)) {
            float up = 0.5f * (ray.d.y + 1.0f);
            light += throughput * (sky * up + f3(1, 1, 1) * (1.0f - up));
            break;
        }
        const Sphere& s = spheres[hit.id];
        light += throughput * s.emission;
        throughput *= s.color;
        float3 reflected = ray.d - hit.n * (2.0f * dot(hit.n, ray.d));
        switch (s.surface) {
        case DIFFUSE:
            ray.d = cosine_direction(hit.n, rng.next(), rng.next());
            break;
        case GLOSSY: {
            float3 fuzzy = cosine_direction(hit.n, rng.next(), rng.next());
            ray.d = norm(reflected * (1.0f - s.roughness) + fuzzy * s.roughness);
            break;
        }
        case MIRROR:
        default:
            ray.d = norm(reflected);
        }
        ray.o = hit.p + hit.n * EPS;
        if (depth > 1) {
            if (rng.next() > 0.8f) break;
            throughput = throughput * 1.25f;
        }
    }
    return light;
}

__global__ void render(float3* image, const Sphere* spheres, int n_spheres, float3 eye, float3 sky, int w, int h, int samples,
                       uint32_t frame) {
    int x = threadIdx.x + blockIdx.x * blockDim.x;
    int y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= w || y >= h) return;
    Rng rng(frame * 9781u + y * w + x);
    float3 sum = f3(0, 0, 0);
    for (int s = 0; s < samples; s++) {
        float px = (x + rng.next()) / w - 0.5f, py = 0.5f - (y + rng.next()) / h;
        Ray ray;
        ray.o = eye;
        ray.d = norm(f3(px * w / h, py, -1.0f));
        sum += radiance(ray, spheres, n_spheres, sky, rng);
    }
    image[y * w + x] += sum * (1.0f / samples);
}

int main(int argc, char** argv) {
    int w = 320, h = 240, spp = argc > 1 ? atoi(argv[1]) : 4;
    Sphere scene[3] = {
        {{0, -100.5f, -1}, 100, {0.8f, 0.8f, 0.2f}, {0, 0, 0}, 0, DIFFUSE},
        {{0, 0, -1}, 0.5f, {0.7f, 0.3f, 0.3f}, {0, 0, 0}, 0, DIFFUSE},
        {{1, 0, -1.2f}, 0.5f, {0.9f, 0.9f, 0.9f}, {0.1f, 0, 0}, 0.3f, GLOSSY},
    };
    Sphere* d_scene;
    float3* d_image;
    cudaMalloc(&d_scene, sizeof(scene));
    cudaMemcpy(d_scene, scene, sizeof(scene), cudaMemcpyHostToDevice);
    cudaMalloc(&d_image, w * h * sizeof(float3));
    cudaMemset(d_image, 0, w * h * sizeof(float3));
    dim3 block(16, 16), grid((w + 15) / 16, (h + 15) / 16);
    for (int frame = 0; frame < 4; frame++)
        render<<<grid, block>>>(d_image, d_scene, 3, f3(0, 0, 1), f3(0.5f, 0.7f, 1.0f), w, h, spp, frame);
    float3* image = (float3*)malloc(w * h * sizeof(float3));
    cudaMemcpy(image, d_image, w * h * sizeof(float3), cudaMemcpyDeviceToHost);
    printf("P3\n%d %d\n255\n", w, h);
    for (int i = 0; i < w * h; i++)
        printf("%d %d %d ", (int)(63.75f * image[i].x), (int)(63.75f * image[i].y), (int)(63.75f * image[i].z));
    free(image);
    cudaFree(d_scene);
    cudaFree(d_image);
    return 0;
}
