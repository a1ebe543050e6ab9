/*
 * Tracer step of a regional ocean model: advection with a van Leer limiter on a C grid, lateral diffusion,
 * implicit vertical mixing, surface restoring.  Memory order (k,j,i), i fastest, one halo cell on each side.
 */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <cuda_runtime.h>

#define HALO 1
#define KM_MAX 16
#define IDX2(i, j)    ((i) + (j) * c_im)
#define IDX3(i, j, k) ((i) + c_im * ((j) + c_jm * (k)))
#define SQR(x) ((x) * (x))
#define SIGN_OF(a) ((a) >= 0.0 ? 1.0 : -1.0)

#define CHECK_CUDA(call)                                                                   \
    do {                                                                                   \
        cudaError_t e_ = (call);                                                           \
        if (e_ != cudaSuccess) {                                                           \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e_));    \
            exit(EXIT_FAILURE);                                                            \
        }                                                                                  \
    } while (0)

typedef double REAL;

/* limited slope of three neighbouring values */
__device__ static REAL van_leer(REAL qm, REAL q0, REAL qp)
{
    REAL a = q0 - qm, b = qp - q0;
    REAL prod = a * b;
    if (prod <= 0.0)
        return 0.0;
    return 2.0 * prod / (a + b);
}

/* flux through the face between q1 and q2 */
__device__ static REAL face_flux(REAL vel, REAL q0, REAL q1, REAL q2, REAL q3, REAL cfl)
{
    REAL slope, upstream;
    if (vel >= 0.0) {
        slope = van_leer(q0, q1, q2);
        upstream = q1 + 0.5 * (1.0 - cfl) * slope;
    } else {
        slope = van_leer(q1, q2, q3);
        upstream = q2 - 0.5 * (1.0 + cfl) * slope;
    }
    return vel * upstream;
}

__global__ void tracer_advect(const REAL *__restrict__ T, const REAL *__restrict__ U, const REAL *__restrict__ V,
                              const REAL *__restrict__ dx, const REAL *__restrict__ dy, const int *__restrict__ mask,
                              REAL *__restrict__ Tnew, REAL dt, REAL ah, int c_im, int c_jm, int c_km)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z;
    if (i >= c_im || j >= c_jm || k >= c_km)
        return;
    int c = IDX3(i, j, k);
    if (i < 2 || j < 2 || i > c_im - 3 || j > c_jm - 3 || mask[IDX2(i, j)] == 0) {
        Tnew[c] = T[c];
        return;
    }
    REAL area = dx[IDX2(i, j)] * dy[IDX2(i, j)];
    REAL ue = U[c], uw = U[IDX3(i - 1, j, k)];
    REAL vn = V[c], vs = V[IDX3(i, j - 1, k)];
    REAL ce = ue * dt / dx[IDX2(i, j)], cw = uw * dt / dx[IDX2(i, j)];
    REAL cn = vn * dt / dy[IDX2(i, j)], cs = vs * dt / dy[IDX2(i, j)];

    REAL fe = dy[IDX2(i, j)] * face_flux(ue, T[c - 1], T[c], T[c + 1], T[c + 2 - (i == c_im - 2)], ce);
    REAL fw = dy[IDX2(i, j)] * face_flux(uw, T[c - 2], T[c - 1], T[c], T[c + 1], cw);
    REAL fn = dx[IDX2(i, j)] * face_flux(vn, T[IDX3(i, j - 1, k)], T[c], T[IDX3(i, j + 1, k)], T[IDX3(i, j + 2, k)], cn);
    REAL fs = dx[IDX2(i, j)] * face_flux(vs, T[IDX3(i, j - 2, k)], T[IDX3(i, j - 1, k)], T[c], T[IDX3(i, j + 1, k)], cs);
    REAL div = (ue - uw) * dy[IDX2(i, j)] + (vn - vs) * dx[IDX2(i, j)];

    /* closed faces carry no diffusive flux */
    REAL lap = 0.0;
    lap += mask[IDX2(i + 1, j)] ? T[c + 1] - T[c] : 0.0;
    lap += mask[IDX2(i - 1, j)] ? T[c - 1] - T[c] : 0.0;
    lap += mask[IDX2(i, j + 1)] ? T[IDX3(i, j + 1, k)] - T[c] : 0.0;
    lap += mask[IDX2(i, j - 1)] ? T[IDX3(i, j - 1, k)] - T[c] : 0.0;

    Tnew[c] = T[c] - dt / area * (fe - fw + fn - fs - T[c] * div) + dt * ah * lap / area;
}

/* one thread per water column; tridiagonal system for backward Euler mixing, Richardson dependent viscosity */
__global__ void vertical_mix(REAL *T, const REAL *S, const REAL *shear2, const REAL *dz, const REAL *sst, REAL dt,
                             REAL kappa_b, REAL tau, int c_im, int c_jm, int c_km)
{
    REAL aa[KM_MAX], bb[KM_MAX], cc[KM_MAX], rr[KM_MAX], kz[KM_MAX + 1], gam[KM_MAX];
    REAL bet, ri, n2, rho_up, rho_dn;
    int k, i, j;

    i = blockIdx.x * blockDim.x + threadIdx.x;
    j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= c_im || j >= c_jm)
        return;

    kz[0] = 0.0;
    kz[c_km] = 0.0;
    for (k = 1; k < c_km; k++) {
        rho_up = -0.2 * T[IDX3(i, j, k - 1)] + 0.78 * S[IDX3(i, j, k - 1)];
        rho_dn = -0.2 * T[IDX3(i, j, k)] + 0.78 * S[IDX3(i, j, k)];
        n2 = 9.81 / 1025.0 * (rho_dn - rho_up) / (0.5 * (dz[k] + dz[k - 1]));
        ri = n2 / (shear2[IDX3(i, j, k)] + 1.0e-4);
        if (ri > 0.0)
            kz[k] = 5.0e-3 / SQR(1.0 + 5.0 * ri) + kappa_b;
        else
            kz[k] = 1.0e-1 + 5.0e-3;      /* convection */
    }
    for (k = 0; k < c_km; k++) {
        REAL up = k > 0 ? dt * kz[k] / (dz[k] * 0.5 * (dz[k] + dz[k - 1])) : 0.0;
        REAL dn = k < c_km - 1 ? dt * kz[k + 1] / (dz[k] * 0.5 * (dz[k] + dz[k + 1])) : 0.0;
        aa[k] = -up;
        cc[k] = -dn;
        bb[k] = 1.0 + up + dn;
        rr[k] = T[IDX3(i, j, k)];
    }
    bb[0] += dt / tau;
    rr[0] += dt / tau * sst[IDX2(i, j)];

    bet = bb[0];
    rr[0] = rr[0] / bet;
    for (k = 1; k < c_km; k++) {
        gam[k] = cc[k - 1] / bet;
        bet = bb[k] - aa[k] * gam[k];
        rr[k] = (rr[k] - aa[k] * rr[k - 1]) / bet;
    }
    for (k = c_km - 2; k >= 0; k--)
        rr[k] -= gam[k + 1] * rr[k + 1];
    for (k = 0; k < c_km; k++)
        T[IDX3(i, j, k)] = rr[k];
}

int main(int argc, char **argv)
{
    int im = argc > 1 ? atoi(argv[1]) : 64, jm = argc > 2 ? atoi(argv[2]) : 48, km = 12, n, nstep = 10;
    size_t n3 = (size_t)im * jm * km * sizeof(REAL), n2 = (size_t)im * jm * sizeof(REAL);
    REAL *T, *Tn, *U, *V, *S, *sh, *dx, *dy, *dz, *sst, *tmp;
    int *mask;
    CHECK_CUDA(cudaMallocManaged((void **)&T, n3));
    CHECK_CUDA(cudaMallocManaged((void **)&Tn, n3));
    CHECK_CUDA(cudaMallocManaged((void **)&U, n3));
    CHECK_CUDA(cudaMallocManaged((void **)&V, n3));
    CHECK_CUDA(cudaMallocManaged((void **)&S, n3));
    CHECK_CUDA(cudaMallocManaged((void **)&sh, n3));
    CHECK_CUDA(cudaMallocManaged((void **)&dx, n2));
    CHECK_CUDA(cudaMallocManaged((void **)&dy, n2));
    CHECK_CUDA(cudaMallocManaged((void **)&sst, n2));
    CHECK_CUDA(cudaMallocManaged((void **)&dz, km * sizeof(REAL)));
    CHECK_CUDA(cudaMallocManaged((void **)&mask, im * jm * sizeof(int)));
    for (n = 0; n < im * jm; n++) {
        dx[n] = dy[n] = 1.0e4;
        sst[n] = 15.0;
        mask[n] = (n % 17) != 0;
    }
    for (n = 0; n < im * jm * km; n++) {
        T[n] = 20.0 - (n / (im * jm));
        S[n] = 35.0;
        U[n] = V[n] = 0.1;
        sh[n] = 1e-5;
    }
    for (n = 0; n < km; n++) dz[n] = 10.0 + n;
    dim3 tb(16, 8, 1), gr((im + 15) / 16, (jm + 7) / 8, km), gc((im + 15) / 16, (jm + 7) / 8);
    for (n = 0; n < nstep; n++) {
        tracer_advect<<<gr, tb>>>(T, U, V, dx, dy, mask, Tn, 600.0, 100.0, im, jm, km);
        tmp = T; T = Tn; Tn = tmp;
        vertical_mix<<<gc, tb>>>(T, S, sh, dz, sst, 600.0, 1e-5, 86400.0, im, jm, km);
    }
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaDeviceSynchronize());
    printf("T(5,5,0) = %g\n", T[5 + 5 * im]);
    return 0;
}
