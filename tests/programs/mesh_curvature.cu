// Discrete differential geometry of triangle meshes: vertex normals, mean and Gaussian curvature, Laplacian smoothing,
// Willmore-like energy. helper_math-like operators written out here.
#include <cstdio>
#include <cmath>
#include <vector>
#include <cuda_runtime.h>

inline __host__ __device__ float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
inline __host__ __device__ float3 operator-(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
inline __host__ __device__ float3 operator-(float3 a) { return make_float3(-a.x, -a.y, -a.z); }
inline __host__ __device__ float3 operator*(float3 a, float s) { return make_float3(a.x * s, a.y * s, a.z * s); }
inline __host__ __device__ float3 operator*(float s, float3 a) { return a * s; }
inline __host__ __device__ float3 operator/(float3 a, float s) { return a * (1.0f / s); }
inline __host__ __device__ void operator+=(float3 &a, float3 b) { a = a + b; }
inline __host__ __device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline __host__ __device__ float3 cross(float3 a, float3 b)
{
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
inline __host__ __device__ float length(float3 a) { return sqrtf(dot(a, a)); }
inline __host__ __device__ float3 normalize(float3 a) { return a * rsqrtf(dot(a, a)); }
inline __host__ __device__ float clamp(float v, float lo, float hi) { return fmaxf(lo, fminf(v, hi)); }
inline __host__ __device__ float3 lerp(float3 a, float3 b, float t) { return a + t * (b - a); }

struct Mesh {
    const int3 *triangles;
    int n_triangles;
    int n_vertices;
};

__device__ float cotangent(float3 a, float3 b)
{
    return dot(a, b) / length(cross(a, b));
}

__device__ float angle_between(float3 a, float3 b)
{
    return atan2f(length(cross(a, b)), dot(a, b));
}

// each triangle adds to its corners: area weighted normal, cotangent Laplacian, angle, a third of the area
__global__ void accumulate_corners(const float3 *position, const int3 *triangles, float3 *normal, float3 *laplace,
                                   float *angle_sum, float *area, int n_triangles)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n_triangles) return;
    const int3 tri = triangles[t];
    const int v[3] = {tri.x, tri.y, tri.z};
    const float3 p[3] = {position[tri.x], position[tri.y], position[tri.z]};
    const float3 n = cross(p[1] - p[0], p[2] - p[0]);
    const float a = 0.5f * length(n);
    for (int c = 0; c < 3; c++) {
        const int i = v[c], j = v[(c + 1) % 3], k = v[(c + 2) % 3];
        const float3 e1 = p[(c + 1) % 3] - p[c], e2 = p[(c + 2) % 3] - p[c];
        atomicAdd(&normal[i].x, n.x);
        atomicAdd(&normal[i].y, n.y);
        atomicAdd(&normal[i].z, n.z);
        atomicAdd(angle_sum + i, angle_between(e1, e2));
        atomicAdd(area + i, a / 3.0f);
        const float w = 0.5f * cotangent(e1, e2);         // opposite to the edge j k
        const float3 d = w * (p[(c + 2) % 3] - p[(c + 1) % 3]);
        atomicAdd(&laplace[j].x, d.x);
        atomicAdd(&laplace[j].y, d.y);
        atomicAdd(&laplace[j].z, d.z);
        atomicAdd(&laplace[k].x, -d.x);
        atomicAdd(&laplace[k].y, -d.y);
        atomicAdd(&laplace[k].z, -d.z);
    }
}

__global__ void curvatures(const float3 *normal, const float3 *laplace, const float *angle_sum, const float *area,
                           float *mean, float *gauss, int n)
{
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) {
        const float3 unit = normalize(normal[i]);
        mean[i] = -0.5f * dot(laplace[i], unit) / area[i];
        gauss[i] = (6.2831853f - angle_sum[i]) / area[i];
    }
}

// one-ring by CSR; moves along the tangential part only, so that the shape stays
__global__ void smooth(const float3 *position, const float3 *normal, const int *row, const int *neighbour,
                       float3 *moved, float step, float keep, int n)
{
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    float3 centre = make_float3(0.f, 0.f, 0.f);
    float total = 0.f;
    for (int e = row[i]; e < row[i + 1]; ++e) {
        const float3 q = position[neighbour[e]];
        const float w = 1.0f / (length(q - position[i]) + 1e-4f);
        centre += w * q;
        total += w;
    }
    if (total == 0.f) {
        moved[i] = position[i];
        return;
    }
    const float3 d = centre / total - position[i];
    const float3 u = normalize(normal[i]);
    const float3 tangential = d - dot(d, u) * u;
    moved[i] = lerp(position[i] + step * tangential, position[i], clamp(keep, 0.f, 1.f));
}

// signed volume and area penalties of the whole surface
__global__ void surface_energy(const float3 *position, const int3 *triangles, float *energy, Mesh mesh, float tension)
{
    float volume = 0.f, area = 0.f;
    for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < mesh.n_triangles; t += gridDim.x * blockDim.x) {
        const int3 tri = triangles[t];
        const float3 a = position[tri.x], b = position[tri.y], c = position[tri.z];
        volume += dot(a, cross(b, c)) / 6.0f;
        area += 0.5f * length(cross(b - a, c - a));
    }
    atomicAdd(energy, tension * area - volume);
}

int main()
{
    const int m = 24, n = m * m;
    std::vector<float3> p(n);
    std::vector<int3> tris;
    for (int i = 0; i < n; i++) {
        const float x = (i % m) / (m - 1.f), y = (i / m) / (m - 1.f);
        p[i] = make_float3(x, y, 0.2f * sinf(6 * x) * cosf(5 * y));
        if (i % m < m - 1 && i / m < m - 1) {
            tris.push_back(make_int3(i, i + 1, i + m));
            tris.push_back(make_int3(i + 1, i + m + 1, i + m));
        }
    }
    float3 *pos, *nor, *lap;
    int3 *tri;
    float *ang, *area, *mean, *gauss;
    cudaMalloc(&pos, n * sizeof(float3)); cudaMalloc(&nor, n * sizeof(float3)); cudaMalloc(&lap, n * sizeof(float3));
    cudaMalloc(&tri, tris.size() * sizeof(int3));
    cudaMalloc(&ang, n * sizeof(float)); cudaMalloc(&area, n * sizeof(float));
    cudaMalloc(&mean, n * sizeof(float)); cudaMalloc(&gauss, n * sizeof(float));
    cudaMemcpy(pos, p.data(), n * sizeof(float3), cudaMemcpyHostToDevice);
    cudaMemcpy(tri, tris.data(), tris.size() * sizeof(int3), cudaMemcpyHostToDevice);
    const int count = (int)tris.size();
    accumulate_corners<<<(count + 127) / 128, 128>>>(pos, tri, nor, lap, ang, area, count);
    curvatures<<<(n + 127) / 128, 128>>>(nor, lap, ang, area, mean, gauss, n);
    std::vector<float> h(n);
    cudaMemcpy(h.data(), mean, n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("H = %g\n", h[n / 2]);
    return cudaGetLastError() != cudaSuccess;
}
