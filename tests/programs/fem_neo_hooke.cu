// Tetrahedral finite elements, compressible neo-Hookean: nodal forces, energy and lumped mass; explicit update with
// Rayleigh damping. mat3 and vec3 written here.
#include <cstdio>
#include <cmath>
#include <vector>
#include <cuda_runtime.h>

struct vec3 {
    double x, y, z;
    __host__ __device__ vec3(double a = 0, double b = 0, double c = 0) : x(a), y(b), z(c) {}
    __host__ __device__ vec3 operator+(const vec3 &o) const { return vec3(x + o.x, y + o.y, z + o.z); }
    __host__ __device__ vec3 operator-(const vec3 &o) const { return vec3(x - o.x, y - o.y, z - o.z); }
    __host__ __device__ vec3 operator*(double s) const { return vec3(x * s, y * s, z * s); }
    __host__ __device__ double &operator[](int i) { return (&x)[i]; }
    __host__ __device__ const double &operator[](int i) const { return (&x)[i]; }
};

struct mat3 {
    vec3 col[3];
    __host__ __device__ double operator()(int r, int c) const { return col[c][r]; }
    __host__ __device__ double &operator()(int r, int c) { return col[c][r]; }
};

__host__ __device__ inline mat3 operator*(const mat3 &a, const mat3 &b)
{
    mat3 m;
    for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r) {
            m(r, c) = 0;
            for (int k = 0; k < 3; ++k) m(r, c) += a(r, k) * b(k, c);
        }
    return m;
}
__host__ __device__ inline mat3 transpose(const mat3 &a)
{
    mat3 t;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) t(i, j) = a(j, i);
    return t;
}
__host__ __device__ inline double det(const mat3 &m)
{
    return m(0, 0) * (m(1, 1) * m(2, 2) - m(1, 2) * m(2, 1)) - m(0, 1) * (m(1, 0) * m(2, 2) - m(1, 2) * m(2, 0)) +
           m(0, 2) * (m(1, 0) * m(2, 1) - m(1, 1) * m(2, 0));
}
__host__ __device__ inline mat3 inverse(const mat3 &m)
{
    const double d = 1.0 / det(m);
    mat3 r;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, e = (i + 2) % 3;
            r(i, j) = d * (m(a, c) * m(b, e) - m(a, e) * m(b, c));
        }
    return r;
}

struct Material {
    double mu, lambda, density;
};

__device__ inline mat3 edges(const vec3 *x, const int4 &t)
{
    mat3 m;
    m.col[0] = x[t.y] - x[t.x];
    m.col[1] = x[t.z] - x[t.x];
    m.col[2] = x[t.w] - x[t.x];
    return m;
}

__device__ inline void add(vec3 *to, int i, const vec3 &v)
{
    atomicAdd(&to[i].x, v.x);
    atomicAdd(&to[i].y, v.y);
    atomicAdd(&to[i].z, v.z);
}

__global__ void element_forces(const vec3 *rest, const vec3 *now, const int4 *tets, const Material *materials,
                               const short *material_of, vec3 *force, double *mass, double *energy, int n_elements)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n_elements) return;
    const int4 t = tets[e];
    const Material m = materials[material_of[e]];
    const mat3 Dm = edges(rest, t), Ds = edges(now, t);
    const double volume = fabs(det(Dm)) / 6.0;
    const mat3 Bm = inverse(Dm);
    const mat3 F = Ds * Bm;
    const double J = det(F);
    if (J <= 1e-3) {
        printf("element %d inverted, J = %g\n", e, J);
        return;
    }
    const mat3 FinvT = transpose(inverse(F));
    const double logJ = log(J);
    mat3 P;
    double trace = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            P(i, j) = m.mu * (F(i, j) - FinvT(i, j)) + m.lambda * logJ * FinvT(i, j);
            trace += F(i, j) * F(i, j);
        }
    energy[e] = volume * (0.5 * m.mu * (trace - 3.0) - m.mu * logJ + 0.5 * m.lambda * logJ * logJ);
    const mat3 H = P * transpose(Bm);
    const vec3 f1 = H.col[0] * -volume, f2 = H.col[1] * -volume, f3 = H.col[2] * -volume;
    add(force, t.y, f1);
    add(force, t.z, f2);
    add(force, t.w, f3);
    add(force, t.x, (f1 + f2 + f3) * -1.0);
    const int corner[4] = {t.x, t.y, t.z, t.w};
    for (int c = 0; c < 4; ++c) atomicAdd(&mass[corner[c]], 0.25 * volume * m.density);
}

__global__ void integrate(vec3 *x, vec3 *v, const vec3 *force, const double *mass, const char *fixed, vec3 gravity,
                          double damping, double dt, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || fixed[i]) return;
    vec3 a = force[i] * (1.0 / mass[i]) + gravity - v[i] * damping;
    v[i] = v[i] + a * dt;
    x[i] = x[i] + v[i] * dt;
    if (x[i].z < 0) {              // floor
        x[i].z = 0;
        v[i] = vec3(0.5 * v[i].x, 0.5 * v[i].y, -0.3 * v[i].z);
    }
}

int main()
{
    const int n = 5, ne = 2;
    vec3 *rest, *now, *v, *f;
    int4 *tets;
    Material *mats;
    short *of;
    char *fixed;
    double *mass, *energy;
    cudaMallocManaged(&rest, n * sizeof(vec3)); cudaMallocManaged(&now, n * sizeof(vec3));
    cudaMallocManaged(&v, n * sizeof(vec3)); cudaMallocManaged(&f, n * sizeof(vec3));
    cudaMallocManaged(&tets, ne * sizeof(int4)); cudaMallocManaged(&mats, sizeof(Material));
    cudaMallocManaged(&of, ne * sizeof(short)); cudaMallocManaged(&fixed, n);
    cudaMallocManaged(&mass, n * sizeof(double)); cudaMallocManaged(&energy, ne * sizeof(double));
    rest[0] = vec3(0, 0, 1); rest[1] = vec3(1, 0, 1); rest[2] = vec3(0, 1, 1); rest[3] = vec3(0, 0, 2); rest[4] = vec3(1, 1, 2);
    for (int i = 0; i < n; ++i) {
        now[i] = rest[i] * 1.01;
        v[i] = f[i] = vec3();
        fixed[i] = mass[i] = 0;
    }
    tets[0] = make_int4(0, 1, 2, 3);
    tets[1] = make_int4(1, 2, 3, 4);
    of[0] = of[1] = 0;
    mats[0] = {1e3, 2e3, 1.0};
    for (int step = 0; step < 100; ++step) {
        cudaMemset(f, 0, n * sizeof(vec3));
        cudaMemset(mass, 0, n * sizeof(double));
        element_forces<<<1, 32>>>(rest, now, tets, mats, of, f, mass, energy, ne);
        integrate<<<1, 32>>>(now, v, f, mass, fixed, vec3(0, 0, -9.81), 0.1, 1e-4, n);
    }
    cudaDeviceSynchronize();
    printf("%g %g\n", now[0].z, energy[0]);
}
