// Finite-volume Euler equations on an unstructured mesh of triangles and quads, cell by cell: Rusanov fluxes, far-field
// and wall boundaries by negative neighbour numbers, local time steps, SoA with a stride, a three-stage Runge-Kutta.
#include <cuda_runtime.h>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#define GAMMA 1.4
#define NFACE 4
#define WALL (-1)
#define FARFIELD (-2)

enum { VAR_RHO, VAR_MX, VAR_MY, VAR_E, NVAR };

template <typename T>
struct State {
  T rho, mx, my, e;
};

__constant__ double ff_variable[NVAR] = {1.4, 4.2, 0.0, 8.8};

template <typename T>
__device__ inline State<T> load(const T* __restrict__ v, int i, int stride) {
  return State<T>{v[VAR_RHO * stride + i], v[VAR_MX * stride + i], v[VAR_MY * stride + i], v[VAR_E * stride + i]};
}

template <typename T>
__device__ inline T pressure(const State<T>& s) {
  return T(GAMMA - 1.0) * (s.e - T(0.5) * (s.mx * s.mx + s.my * s.my) / s.rho);
}

template <typename T>
__device__ inline T sound(const State<T>& s) { return sqrt(T(GAMMA) * pressure(s) / s.rho); }

template <typename T>
__device__ inline State<T> normal_flux(const State<T>& s, T nx, T ny) {
  const T vn = (s.mx * nx + s.my * ny) / s.rho, p = pressure(s);
  return State<T>{s.rho * vn, s.mx * vn + p * nx, s.my * vn + p * ny, (s.e + p) * vn};
}

template <typename T>
__device__ State<T> rusanov(const State<T>& a, const State<T>& b, T nx, T ny) {
  const State<T> fa = normal_flux(a, nx, ny), fb = normal_flux(b, nx, ny);
  const T length = sqrt(nx * nx + ny * ny);
  const T va = fabs(a.mx * nx + a.my * ny) / a.rho + sound(a) * length;
  const T vb = fabs(b.mx * nx + b.my * ny) / b.rho + sound(b) * length;
  const T lambda = va > vb ? va : vb;
  return State<T>{T(0.5) * (fa.rho + fb.rho - lambda * (b.rho - a.rho)), T(0.5) * (fa.mx + fb.mx - lambda * (b.mx - a.mx)),
                  T(0.5) * (fa.my + fb.my - lambda * (b.my - a.my)), T(0.5) * (fa.e + fb.e - lambda * (b.e - a.e))};
}

template <typename T>
__global__ void compute_step_factor(int nelr, const T* __restrict__ variables, const T* areas, T* __restrict__ step_factors,
                                    T cfl) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < nelr) {
    const State<T> s = load(variables, i, nelr);
    const T speed = sqrt(s.mx * s.mx + s.my * s.my) / s.rho;
    step_factors[i] = cfl / (sqrt(areas[i]) * (speed + sound(s)));
  }
}

template <typename T>
__global__ void compute_flux(int nelr, const int* __restrict__ neighbours, const T* __restrict__ normals,
                             const T* __restrict__ variables, T* __restrict__ fluxes) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i >= nelr) return;
  const State<T> me = load(variables, i, nelr);
  T total[NVAR] = {0, 0, 0, 0};
#pragma unroll
  for (int j = 0; j < NFACE; j++) {
    const int nb = neighbours[i + j * nelr];
    const T nx = normals[i + (j + 0 * NFACE) * nelr], ny = normals[i + (j + 1 * NFACE) * nelr];
    if (nx == T(0) && ny == T(0)) continue;       // triangles have three faces
    State<T> f;
    if (nb >= 0) {
      f = rusanov(me, load(variables, nb, nelr), nx, ny);
    } else if (nb == WALL) {
      const T p = pressure(me);
      f = State<T>{T(0), p * nx, p * ny, T(0)};
    } else if (nb == FARFIELD) {
      f = rusanov(me, State<T>{T(ff_variable[VAR_RHO]), T(ff_variable[VAR_MX]), T(ff_variable[VAR_MY]), T(ff_variable[VAR_E])}, nx, ny);
    } else {
      f = normal_flux(me, nx, ny);                // outflow
    }
    total[VAR_RHO] += f.rho;
    total[VAR_MX] += f.mx;
    total[VAR_MY] += f.my;
    total[VAR_E] += f.e;
  }
  for (int v = 0; v < NVAR; v++) fluxes[i + v * nelr] = total[v];
}

template <typename T>
__global__ void time_step(int j, int nelr, const T* old_variables, T* variables, const T* step_factors, const T* fluxes) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i >= nelr) return;
  const T factor = step_factors[i] / T(3 + 1 - j);
  for (int v = 0; v < NVAR; v++) variables[i + v * nelr] = old_variables[i + v * nelr] - factor * fluxes[i + v * nelr];
}

template <typename T>
T* alloc(int n) {
  T* t;
  cudaMallocManaged((void**)&t, sizeof(T) * n);
  for (int i = 0; i < n; i++) t[i] = T(1);
  return t;
}

void dump(const double* variables, int nel) {
  std::ofstream file("density");
  file << nel << std::endl;
  for (int i = 0; i < nel; i++) file << variables[i] << std::endl;
}

int main(int argc, char** argv) {
  const std::string out = argc > 1 ? argv[1] : "";
  const int nel = 256, block = 64;
  double *variables = alloc<double>(nel * NVAR), *old = alloc<double>(nel * NVAR), *fluxes = alloc<double>(nel * NVAR);
  double *areas = alloc<double>(nel), *factors = alloc<double>(nel), *normals = alloc<double>(nel * NFACE * 2);
  int* neighbours = alloc<int>(nel * NFACE);
  for (int i = 0; i < nel; i++) {
    variables[i + VAR_E * nel] = 5.0;
    for (int f = 0; f < NFACE; f++) {
      neighbours[i + f * nel] = (i + f + 1) % nel;
      normals[i + f * nel] = f == 0 ? 1 : f == 1 ? -1 : 0;
      normals[i + (f + NFACE) * nel] = f == 2 ? 1 : f == 3 ? -1 : 0;
    }
  }
  for (int it = 0; it < 5; it++) {
    cudaMemcpy(old, variables, nel * NVAR * sizeof(double), cudaMemcpyDefault);
    compute_step_factor<double><<<nel / block, block>>>(nel, variables, areas, factors, 0.5);
    for (int j = 1; j <= 3; j++) {
      compute_flux<double><<<nel / block, block>>>(nel, neighbours, normals, variables, fluxes);
      time_step<double><<<nel / block, block>>>(j, nel, old, variables, factors, fluxes);
    }
  }
  cudaDeviceSynchronize();
  if (!out.empty()) dump(variables, nel);
  printf("%f\n", variables[0]);
  return 0;
}
