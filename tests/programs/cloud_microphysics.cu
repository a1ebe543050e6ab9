/* Warm-rain and ice microphysics in columns, after old Fortran: saturation adjustment, autoconversion, accretion,
   evaporation, melting, sedimentation with sub-steps.  Everything is changed in place; units are SI. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

typedef double real; /* REAL*8 */

#define CP   1004.5f
#define LV   2.501e6f
#define LF   3.34e5f
#define RV   461.5f
#define RD   287.04f
#define EPS0 0.622f
#define T0   273.15f
#define MAXK 40

typedef struct {
    real autoconversion_rate, threshold, accretion, evaporation;
    real fall_speed, fall_exponent;
    real melt;
    int   substeps;
} Params;

static __device__ real saturation_pressure(real t) { return 611.2f * exp(17.67f * (t - T0) / (t - 29.65f)); }

static __device__ real saturation_mixing(real p, real t)
{
    real e = saturation_pressure(t);
    e = e < 0.5f * p ? e : 0.5f * p;
    return EPS0 * e / (p - e);
}

/* two Newton steps towards water saturation, both phases share the latent heat of vapour */
static __device__ void adjust(real p, real *t, real *qv, real *qc)
{
    int it;
    for (it = 0; it < 2; it++) {
        real qs = saturation_mixing(p, *t);
        real slope = qs * LV / (RV * *t * *t);
        real dq = (*qv - qs) / (1.0f + LV / CP * slope);
        if (dq < -*qc) dq = -*qc;
        *qv -= dq;
        *qc += dq;
        *t += LV / CP * dq;
    }
}

__global__ void microphysics(real *temperature, real *vapour, real *cloud, real *rain, real *ice, const real *pressure,
                             const real *dz, real *precipitation, Params prm, real dt, int ncol, int nz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, k, n;
    real rho[MAXK], flux[MAXK + 1];
    if (i >= ncol) return;
#define AT(a, k) a[(k) * ncol + i]

    for (k = 0; k < nz; k++) {
        real t = AT(temperature, k), qv = AT(vapour, k), qc = AT(cloud, k), qr = AT(rain, k), qi = AT(ice, k);
        const real p = AT(pressure, k);
        rho[k] = p / (RD * t * (1.0f + 0.61f * qv));
        adjust(p, &t, &qv, &qc);

        /* cloud water becomes rain */
        if (qc > prm.threshold) {
            real a = prm.autoconversion_rate * (qc - prm.threshold) * dt;
            if (a > qc) a = qc;
            qc -= a;
            qr += a;
        }
        if (qr > 1.0e-9f && qc > 1.0e-9f) {
            real c = prm.accretion * qc * pow(rho[k] * qr, 0.875f) * dt;
            c = fmin(c, qc);
            qc -= c;
            qr += c;
        }
        /* rain evaporates in dry air */
        real deficit = 1.0f - qv / saturation_mixing(p, t);
        if (deficit > 0.0f && qr > 1.0e-9f) {
            real e = prm.evaporation * deficit * sqrt(rho[k] * qr) * dt;
            if (e > qr) e = qr;
            qr -= e;
            qv += e;
            t -= LV / CP * e;
        }
        /* ice melts above freezing, rain freezes well below */
        if (t > T0 && qi > 0.0f) {
            real m = qi * (1.0f - exp(-prm.melt * (t - T0) * dt));
            qi -= m;
            qr += m;
            t -= LF / CP * m;
        } else if (t < T0 - 10.0f && qr > 0.0f) {
            real f = 0.1f * qr;
            qr -= f;
            qi += f;
            t += LF / CP * f;
        }
        AT(temperature, k) = t;
        AT(vapour, k) = qv;
        AT(cloud, k) = qc;
        AT(rain, k) = qr;
        AT(ice, k) = qi;
    }

    /* sedimentation, upstream from the top (k = nz - 1) */
    real total = 0.0f;
    for (n = 0; n < prm.substeps; n++) {
        flux[nz] = 0.0f;
        for (k = nz - 1; k >= 0; k--) {
            real q = AT(rain, k) > 0.0f ? AT(rain, k) : 0.0f;
            real speed = prm.fall_speed * pow(rho[k] * q + 1.0e-10f, prm.fall_exponent) * sqrt(rho[0] / rho[k]);
            flux[k] = rho[k] * q * speed;
        }
        for (k = 0; k < nz; k++) AT(rain, k) += dt / prm.substeps * (flux[k + 1] - flux[k]) / (rho[k] * dz[k]);
        total += flux[0] * dt / prm.substeps;
    }
    precipitation[i] += total;
#undef AT
}

int main(int argc, char **argv)
{
    int ncol = 256, nz = 30, i, step;
    size_t bytes = (size_t)ncol * nz * sizeof(real);
    real *f[6], *dz, *pr;
    for (i = 0; i < 6; i++) cudaMallocManaged((void **)&f[i], bytes);
    cudaMallocManaged((void **)&dz, nz * sizeof(real));
    cudaMallocManaged((void **)&pr, ncol * sizeof(real));
    for (i = 0; i < ncol * nz; i++) {
        int k = i / ncol;
        f[0][i] = 300.0f - 6.5f * 0.3f * k;
        f[1][i] = 0.018f * exp(-0.1f * k);
        f[2][i] = 1e-3f;
        f[3][i] = 5e-4f;
        f[4][i] = k > 20 ? 1e-4f : 0.0f;
        f[5][i] = 1.0e5f * exp(-0.035f * k);
    }
    for (i = 0; i < nz; i++) dz[i] = 300.0f;
    Params p = {1e-3f, 1e-3f, 2.2f, 1e-3f, 36.34f, 0.1364f, 1e-3f, 4};
    for (step = 0; step < 20; step++)
        microphysics<<<(ncol + 127) / 128, 128>>>(f[0], f[1], f[2], f[3], f[4], f[5], dz, pr, p, 10.0f, ncol, nz);
    cudaDeviceSynchronize();
    printf("rain at the ground: %f mm\n", pr[0]);
    return 0;
}
