/*
   Shortwave radiation, delta-Eddington two-stream with the adding method.  Translated from Fortran: one column a thread,
   level arrays in local memory, names as they were.
*/
#include <stdio.h>
#include <math.h>
#include <cuda_runtime.h>

#define MLAY 24
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

__device__ __constant__ double solar = 1361.0;

/* layer transmittance and reflectance for diffuse and direct light */
__device__ void layer(double tau0, double w0, double g0, double mu0, double *rdif, double *tdif, double *rdir, double *tdir,
                      double *texp)
{
    double f, tau, w, g, gam1, gam2, gam3, gam4, alf1, alf2, k, emk, em2k, r, denom, mult, kmu;

    /* delta scaling */
    f = g0 * g0;
    tau = (1.0 - w0 * f) * tau0;
    w = w0 * (1.0 - f) / (1.0 - w0 * f);
    g = g0 / (1.0 + g0);

    gam1 = (7.0 - w * (4.0 + 3.0 * g)) * 0.25;
    gam2 = -(1.0 - w * (4.0 - 3.0 * g)) * 0.25;
    gam3 = (2.0 - 3.0 * mu0 * g) * 0.25;
    gam4 = 1.0 - gam3;

    k = sqrt(MAX((gam1 - gam2) * (gam1 + gam2), 1.0e-12));
    emk = exp(-k * tau);
    em2k = emk * emk;
    r = 1.0 / (k + gam1 + (k - gam1) * em2k);
    *rdif = r * gam2 * (1.0 - em2k);
    *tdif = 2.0 * r * k * emk;

    *texp = exp(-tau / mu0);
    alf1 = gam1 * gam4 + gam2 * gam3;
    alf2 = gam1 * gam3 + gam2 * gam4;
    kmu = k * mu0;
    mult = 1.0 - kmu * kmu;
    if (fabs(mult) < 1.0e-6) mult = 1.0e-6;
    denom = w * r / mult;
    *rdir = denom * ((1.0 - kmu) * (alf2 + k * gam3) - (1.0 + kmu) * (alf2 - k * gam3) * em2k -
                     2.0 * (k * gam3 - alf2 * kmu) * emk * *texp);
    *tdir = -denom * ((1.0 + kmu) * (alf1 + k * gam4) * *texp - (1.0 - kmu) * (alf1 - k * gam4) * em2k * *texp -
                      2.0 * (k * gam4 + alf1 * kmu) * emk);
    *rdir = MAX(0.0, MIN(*rdir, 1.0 - *texp));
    *tdir = MAX(0.0, MIN(*tdir, 1.0 - *texp - *rdir));
}

/* tau, ssa, asy: (ncol, nlay, nband), column fastest; layer 0 is the top */
__global__ void shortwave(const double *tau, const double *ssa, const double *asy, const double *mu0, const double *albedo,
                          const double *band_fraction, double *flux_up, double *flux_dn, double *flux_direct, double *heating,
                          const double *dp, int ncol, int nlay, int nband)
{
    double rdif[MLAY], tdif[MLAY], rdir[MLAY], tdir[MLAY], texp[MLAY];
    double alb[MLAY + 1], src[MLAY + 1], den[MLAY], dirflux[MLAY + 1];
    int ic, il, ib;

    ic = blockIdx.x * blockDim.x + threadIdx.x;
    if (ic >= ncol) return;
    for (il = 0; il <= nlay; il++) {
        flux_up[ic + ncol * il] = 0.0;
        flux_dn[ic + ncol * il] = 0.0;
        flux_direct[ic + ncol * il] = 0.0;
    }
    if (mu0[ic] <= 0.0) {          /* night */
        for (il = 0; il < nlay; il++) heating[ic + ncol * il] = 0.0;
        return;
    }

    for (ib = 0; ib < nband; ib++) {
        const double top = solar * band_fraction[ib] * mu0[ic];
        for (il = 0; il < nlay; il++) {
            int n = ic + ncol * (il + nlay * ib);
            layer(tau[n], ssa[n], asy[n], mu0[ic], &rdif[il], &tdif[il], &rdir[il], &tdir[il], &texp[il]);
        }
        dirflux[0] = top;
        for (il = 0; il < nlay; il++) dirflux[il + 1] = dirflux[il] * texp[il];

        /* upwards: albedo of and source from what lies below */
        alb[nlay] = albedo[ic];
        src[nlay] = albedo[ic] * dirflux[nlay];
        for (il = nlay - 1; il >= 0; il--) {
            den[il] = 1.0 / (1.0 - rdif[il] * alb[il + 1]);
            alb[il] = rdif[il] + tdif[il] * tdif[il] * alb[il + 1] * den[il];
            src[il] = rdir[il] * dirflux[il] + tdif[il] * den[il] * (src[il + 1] + alb[il + 1] * tdir[il] * dirflux[il]);
        }
        /* downwards */
        double dn = 0.0, up = src[0];
        flux_up[ic] += up;
        flux_dn[ic] += dirflux[0];
        flux_direct[ic] += dirflux[0];
        for (il = 0; il < nlay; il++) {
            dn = (tdif[il] * dn + rdif[il] * src[il + 1] + tdir[il] * dirflux[il]) * den[il];
            up = dn * alb[il + 1] + src[il + 1];
            flux_up[ic + ncol * (il + 1)] += up;
            flux_dn[ic + ncol * (il + 1)] += dn + dirflux[il + 1];
            flux_direct[ic + ncol * (il + 1)] += dirflux[il + 1];
        }
    }
    for (il = 0; il < nlay; il++) {
        double net_top = flux_dn[ic + ncol * il] - flux_up[ic + ncol * il];
        double net_bottom = flux_dn[ic + ncol * (il + 1)] - flux_up[ic + ncol * (il + 1)];
        heating[ic + ncol * il] = 9.81 / 1004.0 * (net_top - net_bottom) / dp[ic + ncol * il];
    }
}

int main(void)
{
    int ncol = 128, nlay = 20, nband = 3, i;
    double *p[11];
    size_t sizes[11] = {(size_t)ncol * nlay * nband, (size_t)ncol * nlay * nband, (size_t)ncol * nlay * nband,
                        (size_t)ncol, (size_t)ncol, (size_t)nband, (size_t)ncol * (nlay + 1), (size_t)ncol * (nlay + 1),
                        (size_t)ncol * (nlay + 1), (size_t)ncol * nlay, (size_t)ncol * nlay};
    for (i = 0; i < 11; i++) {
        size_t j;
        if (cudaMallocManaged((void **)&p[i], sizes[i] * sizeof(double)) != cudaSuccess) return 1;
        for (j = 0; j < sizes[i]; j++) p[i][j] = 0.3;
    }
    shortwave<<<(ncol + 63) / 64, 64>>>(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], ncol, nlay, nband);
    if (cudaDeviceSynchronize() != cudaSuccess) return 2;
    printf("up at top: %f, down at surface: %f\n", p[6][0], p[7][ncol * nlay]);
    return 0;
}
