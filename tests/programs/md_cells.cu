// Molecular dynamics with a cell list: shifted Lennard-Jones and reaction-field electrostatics, periodic box,
// velocity Verlet. Templates over the precision; structure of arrays.
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

namespace md {

template <typename T> struct Vec3;
template <> struct Vec3<float> { using type = float3; };
template <> struct Vec3<double> { using type = double3; };

template <typename T>
struct Particles {
    T *x, *y, *z;
    T *vx, *vy, *vz;
    T *fx, *fy, *fz;
    const T *charge;
    const T *mass;
    const uint32_t *type;
};

template <typename T>
struct Box {
    T lx, ly, lz;
    int ncx, ncy, ncz;
};

template <typename T>
struct PairTable {          // symmetric, ntypes x ntypes
    const T *epsilon, *sigma;
    uint32_t ntypes;
    T cutoff;
    T krf;                  // reaction field
    T coulomb;
};

template <typename T>
__device__ __forceinline__ T wrap(T d, T l)
{
    if (d > T(0.5) * l) d -= l;
    else if (d < T(-0.5) * l) d += l;
    return d;
}

__device__ __forceinline__ int cell_of(int cx, int cy, int cz, int ncx, int ncy, int ncz)
{
    cx = (cx + ncx) % ncx;
    cy = (cy + ncy) % ncy;
    cz = (cz + ncz) % ncz;
    return (cz * ncy + cy) * ncx + cx;
}

// shifted so that energy and force vanish at the cutoff; returns force over distance
template <typename T, bool WithEnergy>
__device__ inline T pair(const PairTable<T> &t, uint32_t ti, uint32_t tj, T qq, T r2, T &energy)
{
    const T eps = t.epsilon[ti * t.ntypes + tj];
    const T sig = t.sigma[ti * t.ntypes + tj];
    const T s2 = sig * sig / r2, s6 = s2 * s2 * s2;
    const T rc2 = t.cutoff * t.cutoff;
    const T c2 = sig * sig / rc2, c6 = c2 * c2 * c2;
    const T r = sqrt(r2), rinv = T(1) / r;
    const T crf = T(1) / t.cutoff + t.krf * rc2;
    if constexpr (WithEnergy) {
        const T shift = T(4) * eps * (c6 * c6 - c6);
        const T slope = T(-24) * eps * (T(2) * c6 * c6 - c6) / t.cutoff;
        energy += T(4) * eps * (s6 * s6 - s6) - shift - slope * (r - t.cutoff);
        energy += t.coulomb * qq * (rinv + t.krf * r2 - crf);
    }
    const T fslope = T(24) * eps * (T(2) * c6 * c6 - c6) / t.cutoff;
    T f = T(24) * eps * (T(2) * s6 * s6 - s6) / r2 - fslope * rinv;
    f += t.coulomb * qq * (rinv * rinv * rinv - T(2) * t.krf);
    return f;
}

template <typename T, bool WithEnergy>
__global__ void forces(Particles<T> p, Box<T> box, PairTable<T> table, const int *__restrict__ cell_start,
                       const int *__restrict__ cell_count, T *potential, T *virial, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const T xi = p.x[i], yi = p.y[i], zi = p.z[i], qi = p.charge[i];
    const uint32_t ti = p.type[i];
    assert(ti < table.ntypes);
    const int cx = min(int(xi / box.lx * box.ncx), box.ncx - 1);
    const int cy = min(int(yi / box.ly * box.ncy), box.ncy - 1);
    const int cz = min(int(zi / box.lz * box.ncz), box.ncz - 1);
    T fx = 0, fy = 0, fz = 0, energy = 0, w = 0;
    for (int dz = -1; dz <= 1; ++dz)
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
                const int c = cell_of(cx + dx, cy + dy, cz + dz, box.ncx, box.ncy, box.ncz);
                const int first = cell_start[c], last = first + cell_count[c];
                for (int j = first; j < last; ++j) {
                    if (j == i) continue;
                    const T rx = wrap(xi - p.x[j], box.lx);
                    const T ry = wrap(yi - p.y[j], box.ly);
                    const T rz = wrap(zi - p.z[j], box.lz);
                    const T r2 = rx * rx + ry * ry + rz * rz;
                    if (r2 >= table.cutoff * table.cutoff) continue;
                    const T f = pair<T, WithEnergy>(table, ti, p.type[j], qi * p.charge[j], r2, energy);
                    fx += f * rx;
                    fy += f * ry;
                    fz += f * rz;
                    w += f * r2;
                }
            }
    p.fx[i] = fx;
    p.fy[i] = fy;
    p.fz[i] = fz;
    if (WithEnergy) {
        potential[i] = T(0.5) * energy;
        virial[i] = T(0.5) * w;
    }
}

template <typename T>
__global__ void kick_drift(Particles<T> p, Box<T> box, T dt, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const T h = T(0.5) * dt / p.mass[i];
        p.vx[i] += h * p.fx[i];
        p.vy[i] += h * p.fy[i];
        p.vz[i] += h * p.fz[i];
        T x = p.x[i] + dt * p.vx[i], y = p.y[i] + dt * p.vy[i], z = p.z[i] + dt * p.vz[i];
        x -= box.lx * floor(x / box.lx);
        y -= box.ly * floor(y / box.ly);
        z -= box.lz * floor(z / box.lz);
        p.x[i] = x;
        p.y[i] = y;
        p.z[i] = z;
    }
}

}  // namespace md

int main()
{
    using T = double;
    const int n = 512;
    std::vector<T *> pool(11);
    for (auto &pointer : pool) cudaMallocManaged(&pointer, n * sizeof(T));
    uint32_t *type;
    cudaMallocManaged(&type, n * sizeof(uint32_t));
    md::Particles<T> p{pool[0], pool[1], pool[2], pool[3], pool[4], pool[5], pool[6], pool[7], pool[8], pool[9], pool[10], type};
    md::Box<T> box{8, 8, 8, 4, 4, 4};
    for (int i = 0; i < n; ++i) {
        p.x[i] = i % 8 + 0.5; p.y[i] = i / 8 % 8 + 0.5; p.z[i] = i / 64 + 0.5;
        pool[9][i] = i & 1 ? 1 : -1;
        pool[10][i] = 1;
        type[i] = 0;
    }
    T *eps, *sig, *pot, *vir;
    int *start, *count;
    cudaMallocManaged(&eps, sizeof(T)); cudaMallocManaged(&sig, sizeof(T));
    cudaMallocManaged(&pot, n * sizeof(T)); cudaMallocManaged(&vir, n * sizeof(T));
    cudaMallocManaged(&start, 64 * sizeof(int)); cudaMallocManaged(&count, 64 * sizeof(int));
    *eps = 1; *sig = 0.9;
    std::fill(start, start + 64, 0); std::fill(count, count + 64, 0);
    md::forces<T, true><<<4, 128>>>(p, box, {eps, sig, 1, 1.9, 0.1, 1.0}, start, count, pot, vir, n);
    md::kick_drift<T><<<2, 128>>>(p, box, 0.002, n);
    cudaDeviceSynchronize();
    printf("%g\n", pot[0]);
}
