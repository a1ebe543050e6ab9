/* Warm-rain and ice microphysics in columns, after old Fortran: saturation adjustment, autoconversion, accretion,
   evaporation, melting, sedimentation with sub-steps.  Everything is changed in place; units are SI. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define CP   1004.5f
#define LV   2.501e6f
#define LF   3.34e5f
#define RV   461.5f
#define RD   287.04f
#define EPS0 0.622f
#define T0   273.15f
#define MAXK 40

typedef struct {
    float autoconversion_rate, threshold, accretion, evaporation;
    float fall_speed, fall_exponent;
    float melt;
    int   substeps;
} Params;

static __device__ float saturation_pressure(float t) { return 611.2f * expf(17.67f * (t - T0) / (t - 29.65f)); }

static __device__ float saturation_mixing(float p, float t)
{
    float e = saturation_pressure(t);
    e = e < 0.5f * p ? e : 0.5f * p;
    return EPS0 * e / (p - e);
}

/* two Newton steps towards water saturation, both phases share the latent heat of vapour */
static __device__ void adjust(float p, float *t, float *qv, float *qc)
{
    int it;
    for (it = 0; it < 2; it++) {
        float qs = saturation_mixing(p, *t);
        float slope = qs * LV / (RV * *t * *t);
        float dq = (*qv - qs) / (1.0f + LV / CP * slope);
        if (dq < -*qc) dq = -*qc;
        *qv -= dq;
        *qc += dq;
        *t += LV / CP * dq;
    }
}

__global__ void microphysics(float *temperature, float *vapour, float *cloud, float *rain, float *ice, const float *pressure,
                             const float *dz, float *precipitation, Params prm, float dt, int ncol, int nz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, k, n;
    float rho[MAXK], flux[MAXK + 1];
    if (i >= ncol) return;
#define AT(a, k) a[(k) * ncol + i]

    for (k = 0; k < nz; k++) {
        float t = AT(temperature, k), qv = AT(vapour, k), qc = AT(cloud, k), qr = AT(rain, k), qi = AT(ice, k);
        const float p = AT(pressure, k);
        rho[k] = p / (RD * t * (1.0f + 0.61f * qv));
        adjust(p, &t, &qv, &qc);

        /* cloud water becomes rain */
        if (qc > prm.threshold) {
            float a = prm.autoconversion_rate * (qc - prm.threshold) * dt;
            if (a > qc) a = qc;
            qc -= a;
            qr += a;
        }
        if (qr > 1.0e-9f && qc > 1.0e-9f) {
            float c = prm.accretion * qc * powf(rho[k] * qr, 0.875f) * dt;
            c = fminf(c, qc);
            qc -= c;
            qr += c;
        }
        /* rain evaporates in dry air */
        float deficit = 1.0f - qv / saturation_mixing(p, t);
        if (deficit > 0.0f && qr > 1.0e-9f) {
            float e = prm.evaporation * deficit * sqrtf(rho[k] * qr) * dt;
            if (e > qr) e = qr;
            qr -= e;
            qv += e;
            t -= LV / CP * e;
        }
        /* ice melts above freezing, rain freezes well below */
        if (t > T0 && qi > 0.0f) {
            float m = qi * (1.0f - expf(-prm.melt * (t - T0) * dt));
            qi -= m;
            qr += m;
            t -= LF / CP * m;
        } else if (t < T0 - 10.0f && qr > 0.0f) {
            float f = 0.1f * qr;
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
    float total = 0.0f;
    for (n = 0; n < prm.substeps; n++) {
        flux[nz] = 0.0f;
        for (k = nz - 1; k >= 0; k--) {
            float q = AT(rain, k) > 0.0f ? AT(rain, k) : 0.0f;
            float speed = prm.fall_speed * powf(rho[k] * q + 1.0e-10f, prm.fall_exponent) * sqrtf(rho[0] / rho[k]);
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
    size_t bytes = (size_t)ncol * nz * sizeof(float);
    float *f[6], *dz, *pr;
    for (i = 0; i < 6; i++) cudaMallocManaged((void **)&f[i], bytes);
    cudaMallocManaged((void **)&dz, nz * sizeof(float));
    cudaMallocManaged((void **)&pr, ncol * sizeof(float));
    for (i = 0; i < ncol * nz; i++) {
        int k = i / ncol;
        f[0][i] = 300.0f - 6.5f * 0.3f * k;
        f[1][i] = 0.018f * expf(-0.1f * k);
        f[2][i] = 1e-3f;
        f[3][i] = 5e-4f;
        f[4][i] = k > 20 ? 1e-4f : 0.0f;
        f[5][i] = 1.0e5f * expf(-0.035f * k);
    }
    for (i = 0; i < nz; i++) dz[i] = 300.0f;
    Params p = {1e-3f, 1e-3f, 2.2f, 1e-3f, 36.34f, 0.1364f, 1e-3f, 4};
    for (step = 0; step < 20; step++)
        microphysics<<<(ncol + 127) / 128, 128>>>(f[0], f[1], f[2], f[3], f[4], f[5], dz, pr, p, 10.0f, ncol, nz);
    cudaDeviceSynchronize();
    printf("rain at the ground: %f mm\n", pr[0]);
    return 0;
}
