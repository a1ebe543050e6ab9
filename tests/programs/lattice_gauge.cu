// SU(2) and SU(3) lattice gauge theory in four dimensions: plaquette action, staples, a leapfrog step of the links with
// the exponential of an anti-Hermitian matrix. Complex 3x3 matrices by hand, periodic neighbours by macro.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

#define NC 3
#define NDIM 4
#define SITE(x, y, z, t) ((((t) * L.n[2] + (z)) * L.n[1] + (y)) * L.n[0] + (x))

struct complx {
    double re, im;
    __host__ __device__ complx() {}
    __host__ __device__ complx(double r, double i = 0.0) : re(r), im(i) {}
};
__host__ __device__ inline complx operator+(complx a, complx b) { return complx(a.re + b.re, a.im + b.im); }
__host__ __device__ inline complx operator-(complx a, complx b) { return complx(a.re - b.re, a.im - b.im); }
__host__ __device__ inline complx operator*(complx a, complx b) { return complx(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re); }
__host__ __device__ inline complx operator*(double s, complx a) { return complx(s * a.re, s * a.im); }
__host__ __device__ inline complx conj(complx a) { return complx(a.re, -a.im); }

struct su3 {
    complx e[NC][NC];
};

__device__ su3 mul(const su3 &a, const su3 &b)
{
    su3 c;
    for (int i = 0; i < NC; i++)
        for (int j = 0; j < NC; j++) {
            complx s(0.0);
            for (int k = 0; k < NC; k++) s = s + a.e[i][k] * b.e[k][j];
            c.e[i][j] = s;
        }
    return c;
}

__device__ su3 dagger(const su3 &a)
{
    su3 c;
    for (int i = 0; i < NC; i++)
        for (int j = 0; j < NC; j++) c.e[i][j] = conj(a.e[j][i]);
    return c;
}

__device__ void add_to(su3 &a, const su3 &b)
{
    for (int i = 0; i < NC; i++)
        for (int j = 0; j < NC; j++) a.e[i][j] = a.e[i][j] + b.e[i][j];
}

__device__ double re_trace(const su3 &a)
{
    double t = 0;
    for (int i = 0; i < NC; i++) t += a.e[i][i].re;
    return t;
}

struct lattice {
    int n[NDIM];
};

__device__ int hop(lattice L, int site, int dir, int step)
{
    int c[NDIM], s = site;
    for (int d = 0; d < NDIM; d++) {
        c[d] = s % L.n[d];
        s /= L.n[d];
    }
    c[dir] = (c[dir] + step + L.n[dir]) % L.n[dir];
    return SITE(c[0], c[1], c[2], c[3]);
}

// links[dir][site]
__global__ void plaquette_action(const su3 *links, double *action, double beta, lattice L, int volume)
{
    __shared__ double sum[64];
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    double mine = 0.0;
    if (s < volume) {
        for (int mu = 0; mu < NDIM; mu++)
            for (int nu = mu + 1; nu < NDIM; nu++) {
                su3 a = mul(links[mu * volume + s], links[nu * volume + hop(L, s, mu, 1)]);
                su3 b = mul(links[nu * volume + s], links[mu * volume + hop(L, s, nu, 1)]);
                mine += 1.0 - re_trace(mul(a, dagger(b))) / NC;
            }
    }
    sum[threadIdx.x] = mine;
    __syncthreads();
    for (int k = blockDim.x / 2; k; k /= 2) {
        if ((int)threadIdx.x < k) sum[threadIdx.x] += sum[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(action, beta * sum[0]);
}

__device__ su3 staple(const su3 *links, lattice L, int volume, int s, int mu)
{
    su3 total;
    for (int i = 0; i < NC; i++)
        for (int j = 0; j < NC; j++) total.e[i][j] = complx(0.0);
    for (int nu = 0; nu < NDIM; nu++) {
        if (nu == mu) continue;
        int up_mu = hop(L, s, mu, 1), up_nu = hop(L, s, nu, 1), down_nu = hop(L, s, nu, -1);
        su3 a = mul(mul(links[nu * volume + up_mu], dagger(links[mu * volume + up_nu])), dagger(links[nu * volume + s]));
        add_to(total, a);
        int corner = hop(L, up_mu, nu, -1);
        su3 b = mul(mul(dagger(links[nu * volume + corner]), dagger(links[mu * volume + down_nu])), links[nu * volume + down_nu]);
        add_to(total, b);
    }
    return total;
}

// one direction at a time: U <- exp(eps F) U, F the traceless anti-Hermitian part of beta U staple
__global__ void flow_step(const su3 *links, su3 *moved, double eps, double beta, lattice L, int volume, int mu)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= volume) return;
    su3 u = links[mu * volume + s];
    su3 w = mul(u, staple(links, L, volume, s, mu));
    su3 f;
    double trace_im = 0;
    for (int i = 0; i < NC; i++)
        for (int j = 0; j < NC; j++) {
            complx d = w.e[i][j] - conj(w.e[j][i]);
            f.e[i][j] = (-0.5 * beta / NC) * d;
            if (i == j) trace_im += f.e[i][j].im;
        }
    for (int i = 0; i < NC; i++) f.e[i][i].im -= trace_im / NC;
    // Taylor series of exp(eps f)
    su3 e, term;
    for (int i = 0; i < NC; i++)
        for (int j = 0; j < NC; j++) e.e[i][j] = term.e[i][j] = complx(i == j ? 1.0 : 0.0);
    for (int order = 1; order <= 6; order++) {
        term = mul(term, f);
        for (int i = 0; i < NC; i++)
            for (int j = 0; j < NC; j++) term.e[i][j] = (eps / order) * term.e[i][j];
        add_to(e, term);
    }
    moved[mu * volume + s] = mul(e, u);
}

int main()
{
    lattice L = {{4, 4, 4, 4}};
    const int volume = 256;
    su3 *u, *v, *h = (su3 *)malloc(NDIM * volume * sizeof(su3));
    double *action;
    for (int i = 0; i < NDIM * volume; i++)
        for (int a = 0; a < NC; a++)
            for (int b = 0; b < NC; b++) h[i].e[a][b] = complx(a == b, 0.01 * (rand() % 10));
    cudaMalloc(&u, NDIM * volume * sizeof(su3));
    cudaMalloc(&v, NDIM * volume * sizeof(su3));
    cudaMallocManaged(&action, sizeof(double));
    cudaMemcpy(u, h, NDIM * volume * sizeof(su3), cudaMemcpyHostToDevice);
    plaquette_action<<<volume / 64, 64>>>(u, action, 6.0, L, volume);
    for (int mu = 0; mu < NDIM; mu++) flow_step<<<volume / 64, 64>>>(u, v, 0.02, 6.0, L, volume, mu);
    cudaDeviceSynchronize();
    printf("%f\n", *action);
    free(h);
    return 0;
}
