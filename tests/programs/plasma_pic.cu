// Two-dimensional electromagnetic particle in cell: linear weighting, Boris push, charge and current deposition with
// atomics into tiles of shared memory, a field solve on a Yee grid. Precision by typedef, AoS particles.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

typedef double real;
typedef struct { real x, y; } real2;
typedef struct { real x, y, z; } real3;

typedef struct {
  real2 position;
  real3 momentum;
  real weight;
  int32_t species;
} particle_t;

typedef struct {
  int nx, ny;
  real dx, dy, dt;
} grid_t;

#define NODE(g, i, j) ((((j) + (g).ny) % (g).ny) * (g).nx + (((i) + (g).nx) % (g).nx))

__device__ static inline real gamma_of(const real3 *u) { return sqrt(1.0 + u->x * u->x + u->y * u->y + u->z * u->z); }

__device__ static real3 gather(const real3 *field, const grid_t *g, real2 at)
{
  real fx = at.x / g->dx, fy = at.y / g->dy;
  int i = (int)floor(fx), j = (int)floor(fy);
  real wx = fx - i, wy = fy - j;
  real3 a = field[NODE(*g, i, j)], b = field[NODE(*g, i + 1, j)], c = field[NODE(*g, i, j + 1)], d = field[NODE(*g, i + 1, j + 1)];
  real3 r;
  r.x = (1 - wy) * ((1 - wx) * a.x + wx * b.x) + wy * ((1 - wx) * c.x + wx * d.x);
  r.y = (1 - wy) * ((1 - wx) * a.y + wx * b.y) + wy * ((1 - wx) * c.y + wx * d.y);
  r.z = (1 - wy) * ((1 - wx) * a.z + wx * b.z) + wy * ((1 - wx) * c.z + wx * d.z);
  return r;
}

__global__ void push(particle_t *particles, const real3 *e_field, const real3 *b_field, const real *charge_over_mass, grid_t g, int n)
{
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n) return;
  particle_t *me = particles + p;
  const real3 e = gather(e_field, &g, me->position), b = gather(b_field, &g, me->position);
  const real h = 0.5 * charge_over_mass[me->species] * g.dt;
  real3 um, t, up, u;
  um.x = me->momentum.x + h * e.x;
  um.y = me->momentum.y + h * e.y;
  um.z = me->momentum.z + h * e.z;
  const real ig = 1.0 / gamma_of(&um);
  t.x = h * ig * b.x;
  t.y = h * ig * b.y;
  t.z = h * ig * b.z;
  const real s = 2.0 / (1.0 + t.x * t.x + t.y * t.y + t.z * t.z);
  up.x = um.x + um.y * t.z - um.z * t.y;
  up.y = um.y + um.z * t.x - um.x * t.z;
  up.z = um.z + um.x * t.y - um.y * t.x;
  u.x = um.x + s * (up.y * t.z - up.z * t.y) + h * e.x;
  u.y = um.y + s * (up.z * t.x - up.x * t.z) + h * e.y;
  u.z = um.z + s * (up.x * t.y - up.y * t.x) + h * e.z;
  me->momentum = u;
  const real speed = g.dt / gamma_of(&u);
  real x = me->position.x + speed * u.x, y = me->position.y + speed * u.y;
  const real lx = g.nx * g.dx, ly = g.ny * g.dy;
  if (x < 0) x += lx; else if (x >= lx) x -= lx;
  if (y < 0) y += ly; else if (y >= ly) y -= ly;
  me->position.x = x;
  me->position.y = y;
}

/* a block keeps the whole (small) grid in dynamic shared memory and adds it at the end */
__global__ void deposit(const particle_t *particles, const real *charge, real *rho, real3 *current, grid_t g, int n)
{
  extern __shared__ real tile[];
  const int nodes = g.nx * g.ny;
  for (int k = threadIdx.x; k < 4 * nodes; k += blockDim.x) tile[k] = 0;
  __syncthreads();
  for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < n; p += gridDim.x * blockDim.x) {
    const particle_t me = particles[p];
    const real q = charge[me.species] * me.weight / (g.dx * g.dy);
    const real ig = 1.0 / gamma_of(&me.momentum);
    const real fx = me.position.x / g.dx, fy = me.position.y / g.dy;
    const int i = (int)floor(fx), j = (int)floor(fy);
    const real wx[2] = {1 - (fx - i), fx - i}, wy[2] = {1 - (fy - j), fy - j};
    for (int b = 0; b < 2; b++)
      for (int a = 0; a < 2; a++) {
        const int node = NODE(g, i + a, j + b);
        const real w = q * wx[a] * wy[b];
        atomicAdd(&tile[node], w);
        atomicAdd(&tile[nodes + node], w * me.momentum.x * ig);
        atomicAdd(&tile[2 * nodes + node], w * me.momentum.y * ig);
        atomicAdd(&tile[3 * nodes + node], w * me.momentum.z * ig);
      }
  }
  __syncthreads();
  for (int k = threadIdx.x; k < nodes; k += blockDim.x) {
    atomicAdd(&rho[k], tile[k]);
    atomicAdd(&current[k].x, tile[nodes + k]);
    atomicAdd(&current[k].y, tile[2 * nodes + k]);
    atomicAdd(&current[k].z, tile[3 * nodes + k]);
  }
}

__global__ void advance_e(real3 *e, const real3 *b, const real3 *j, grid_t g)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= g.nx || k >= g.ny) return;
  const int c = NODE(g, i, k), w = NODE(g, i - 1, k), s = NODE(g, i, k - 1);
  const real dbz_dy = (b[c].z - b[s].z) / g.dy, dbz_dx = (b[c].z - b[w].z) / g.dx;
  const real curl_z = (b[c].y - b[w].y) / g.dx - (b[c].x - b[s].x) / g.dy;
  e[c].x += g.dt * (dbz_dy - j[c].x);
  e[c].y += g.dt * (-dbz_dx - j[c].y);
  e[c].z += g.dt * (curl_z - j[c].z);
}

int main()
{
  grid_t g = {16, 16, 1.0, 1.0, 0.2};
  const int n = 4096;
  particle_t *p;
  real3 *e, *b, *j;
  real *qm, *q, *rho;
  cudaMallocManaged((void **)&p, n * sizeof(particle_t));
  cudaMallocManaged((void **)&e, 256 * sizeof(real3));
  cudaMallocManaged((void **)&b, 256 * sizeof(real3));
  cudaMallocManaged((void **)&j, 256 * sizeof(real3));
  cudaMallocManaged((void **)&rho, 256 * sizeof(real));
  cudaMallocManaged((void **)&qm, 2 * sizeof(real));
  cudaMallocManaged((void **)&q, 2 * sizeof(real));
  srand(3);
  for (int i = 0; i < n; i++) {
    p[i].position.x = 16.0 * rand() / (RAND_MAX + 1.0);
    p[i].position.y = 16.0 * rand() / (RAND_MAX + 1.0);
    p[i].momentum.x = p[i].momentum.y = p[i].momentum.z = 0.01;
    p[i].weight = 1;
    p[i].species = i & 1;
  }
  qm[0] = q[0] = -1; qm[1] = 0.01; q[1] = 1;
  for (int step = 0; step < 10; step++) {
    cudaMemset(rho, 0, 256 * sizeof(real));
    cudaMemset(j, 0, 256 * sizeof(real3));
    deposit<<<8, 64, 4 * 256 * sizeof(real)>>>(p, q, rho, j, g, n);
    advance_e<<<dim3(2, 2), dim3(8, 8)>>>(e, b, j, g);
    push<<<n / 128, 128>>>(p, e, b, qm, g, n);
  }
  cudaDeviceSynchronize();
  printf("%g %g\n", p[0].position.x, e[0].x);
  return 0;
}
