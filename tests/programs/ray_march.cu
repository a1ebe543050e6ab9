// Sphere tracing of a smooth union of spheres and a floor, with soft shading. Scene parameters are to be fitted.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

inline __host__ __device__ double3 operator+(double3 a, double3 b) { return make_double3(a.x + b.x, a.y + b.y, a.z + b.z); }
inline __host__ __device__ double3 operator-(double3 a, double3 b) { return make_double3(a.x - b.x, a.y - b.y, a.z - b.z); }
inline __host__ __device__ double3 operator*(double3 a, double s) { return make_double3(a.x * s, a.y * s, a.z * s); }
inline __host__ __device__ double3 &operator+=(double3 &a, double3 b) { a.x += b.x; a.y += b.y; a.z += b.z; return a; }
inline __host__ __device__ double dot(double3 a, double3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline __host__ __device__ double length(double3 a) { return sqrt(dot(a, a)); }
inline __host__ __device__ double3 normalize(double3 a) { return a * rsqrt(dot(a, a)); }

struct Sphere {
    double3 centre;
    double radius;
};

__device__ double smooth_min(double a, double b, double k)
{
    const double h = fmax(k - fabs(a - b), 0.0) / k;
    return fmin(a, b) - h * h * k * 0.25;
}

__device__ double scene(const Sphere *spheres, int count, double3 p)
{
    double d = p.y + 1.0;
    for (int i = 0; i < count; ++i)
        d = smooth_min(d, length(p - spheres[i].centre) - spheres[i].radius, 0.3);
    return d;
}

__device__ double3 scene_normal(const Sphere *spheres, int count, double3 p)
{
    const double e = 1e-2;
    double3 n;
    n.x = scene(spheres, count, p + make_double3(e, 0, 0)) - scene(spheres, count, p - make_double3(e, 0, 0));
    n.y = scene(spheres, count, p + make_double3(0, e, 0)) - scene(spheres, count, p - make_double3(0, e, 0));
    n.z = scene(spheres, count, p + make_double3(0, 0, e)) - scene(spheres, count, p - make_double3(0, 0, e));
    return normalize(n);
}

__global__ void render(const Sphere *spheres, int count, const double3 *light, double3 *image, int width, int height)
{
    const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    const double3 origin = make_double3(0.f, 0.3, -3.f);
    const double3 ray = normalize(make_double3((px + 0.5) / width - 0.5, 0.5 - (py + 0.5) / height, 1.0));
    double t = 0.0;
    int steps = 0;
    while (steps < 24) {
        const double d = scene(spheres, count, origin + ray * t);
        if (t > 20.0) break;
        t += d;
        ++steps;
    }
    const double3 hit = origin + ray * t;
    const double3 n = scene_normal(spheres, count, hit);
    const double3 to_light = normalize(*light - hit);
    const double diffuse = 0.5 + 0.5 * dot(n, to_light);
    const double fog = exp(-0.1 * t);
    double3 colour = make_double3(0.9, 0.6, 0.3) * (diffuse * fog);
    colour += make_double3(0.1, 0.2, 0.4) * (1.0 - fog);
    image[py * width + px] = colour;
}

int main()
{
    const int w = 128, h = 96;
    std::vector<Sphere> scene_h = {{{0.f, 0.f, 0.f}, 0.8}, {{0.9, 0.2, 0.4}, 0.5}};
    double3 light_h = make_double3(2.f, 3.f, -2.f);
    Sphere *s;
    double3 *light, *image;
    cudaMalloc((void **)&s, scene_h.size() * sizeof(Sphere));
    cudaMalloc((void **)&light, sizeof(double3));
    cudaMalloc((void **)&image, w * h * sizeof(double3));
    cudaMemcpy(s, scene_h.data(), scene_h.size() * sizeof(Sphere), cudaMemcpyHostToDevice);
    cudaMemcpy(light, &light_h, sizeof(double3), cudaMemcpyHostToDevice);
    render<<<dim3(w / 16, h / 16), dim3(16, 16)>>>(s, 2, light, image, w, h);
    std::vector<double3> out(w * h);
    cudaMemcpy(out.data(), image, w * h * sizeof(double3), cudaMemcpyDeviceToHost);
    printf("P3 %d %d: first pixel %f\n", w, h, out[0].x);
}
