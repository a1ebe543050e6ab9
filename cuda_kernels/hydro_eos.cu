// Lagrangian hydrodynamics: every element's volume from its moved corners, then its equation of state, one element a thread.
//
// Follows the steps of LULESH after its published description (I. Karlin, J. Keasler, R. Neely, "LULESH 2.0 updates and changes",
// LLNL-TR-641973, 2013; R. Hornung et al., "Hydrodynamics challenge problem", LLNL-TR-490254, 2011): volume of a hexahedron from
// indirectly addressed nodes, change of the relative volume, three predictions of energy with pressure and artificial viscosity in
// between, sound speed, update of the volume with a cut-off. Published problem: a cube with edge 90, 729,000 elements.
typedef double Real_t;
typedef int Index_t;

struct Material {
    Real_t e_cut, p_cut, q_cut, v_cut;
    Real_t e_min, p_min;
    Real_t v_min, v_max; // bounds of the relative volume in the equation of state
    Real_t density;      // at the start
};

struct Vector {
    Real_t x, y, z;
};

__device__ inline Vector operator-(const Vector &a, const Vector &b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ inline Vector operator+(const Vector &a, const Vector &b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }

__device__ inline Real_t triple_product(const Vector &a, const Vector &b, const Vector &c)
{
    return a.x * (b.y * c.z - b.z * c.y) + b.x * (c.y * a.z - c.z * a.y) + c.x * (a.y * b.z - a.z * b.y);
}

__device__ Real_t element_volume(const Vector n[8])
{
    return (triple_product((n[3] - n[1]) + (n[7] - n[2]), n[6] - n[3], n[2] - n[0]) +
            triple_product((n[4] - n[3]) + (n[5] - n[7]), n[6] - n[4], n[7] - n[0]) +
            triple_product((n[1] - n[4]) + (n[2] - n[5]), n[6] - n[1], n[5] - n[0])) *
           (Real_t(1.0) / Real_t(12.0));
}

// Pressure and its two derivatives with respect to energy (scaled) at a compression.
__device__ void pressure(Real_t e, Real_t compression, Real_t v_new, const Material &m, Real_t *p, Real_t *bvc, Real_t *pbvc)
{
    const Real_t c1s = Real_t(2.0) / Real_t(3.0);
    *bvc = c1s * (compression + Real_t(1.0));
    *pbvc = c1s;
    *p = *bvc * e;
    if (fabs(*p) < m.p_cut)
        *p = Real_t(0.0);
    if (v_new >= m.v_max)
        *p = Real_t(0.0);
    if (*p < m.p_min)
        *p = m.p_min;
}

__device__ Real_t sound_speed(Real_t e, Real_t p, Real_t v, Real_t bvc, Real_t pbvc, Real_t density)
{
    const Real_t squared = (pbvc * e + v * v * bvc * p) / density;
    return squared <= Real_t(1.111111e-37) ? Real_t(3.333333e-19) : sqrt(squared);
}

__device__ inline Real_t cut_energy(Real_t e, const Material &m)
{
    if (fabs(e) < m.e_cut)
        e = Real_t(0.0);
    return e < m.e_min ? m.e_min : e;
}

__global__ void update_elements(const Real_t *x, const Real_t *y, const Real_t *z, const Index_t *corners, const Real_t *volume_0,
                                const Real_t *ql, const Real_t *qq, Real_t *e, Real_t *p, Real_t *q, Real_t *v, Real_t *ss,
                                Material m, Index_t elements)
{
    const Index_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= elements)
        return;

    Vector node[8];
    for (int c = 0; c < 8; ++c) {
        const Index_t n = corners[8 * i + c];
        node[c].x = x[n];
        node[c].y = y[n];
        node[c].z = z[n];
    }
    const Real_t v_true = element_volume(node) / volume_0[i];
    const Real_t change = v_true - v[i];

    Real_t v_new = v_true;
    if (m.v_min != Real_t(0.0) && v_new < m.v_min)
        v_new = m.v_min;
    if (m.v_max != Real_t(0.0) && v_new > m.v_max)
        v_new = m.v_max;

    const Real_t e_old = e[i], q_old = q[i];
    Real_t p_old = p[i];
    Real_t compression = Real_t(1.0) / v_new - Real_t(1.0);
    Real_t half_compression = Real_t(1.0) / (v_new - Real_t(0.5) * change) - Real_t(1.0);
    if (m.v_min != Real_t(0.0) && v_new <= m.v_min)
        half_compression = compression;
    if (m.v_max != Real_t(0.0) && v_new >= m.v_max) {
        p_old = Real_t(0.0);
        compression = Real_t(0.0);
        half_compression = Real_t(0.0);
    }

    Real_t p_half, p_new, q_new, bvc, pbvc;

    // Half a step on.
    Real_t e_new = e_old - Real_t(0.5) * change * (p_old + q_old);
    if (e_new < m.e_min)
        e_new = m.e_min;
    pressure(e_new, half_compression, v_new, m, &p_half, &bvc, &pbvc);
    if (change > Real_t(0.0)) {
        q_new = Real_t(0.0);
    } else {
        const Real_t v_half = Real_t(1.0) / (Real_t(1.0) + half_compression);
        q_new = sound_speed(e_new, p_half, v_half, bvc, pbvc, m.density) * ql[i] + qq[i];
    }

    // The whole step, and its correction.
    e_new += Real_t(0.5) * change * (Real_t(3.0) * (p_old + q_old) - Real_t(4.0) * (p_half + q_new));
    e_new = cut_energy(e_new, m);
    pressure(e_new, compression, v_new, m, &p_new, &bvc, &pbvc);
    Real_t q_tilde = Real_t(0.0);
    if (change <= Real_t(0.0))
        q_tilde = sound_speed(e_new, p_new, v_new, bvc, pbvc, m.density) * ql[i] + qq[i];
    e_new -= (Real_t(7.0) * (p_old + q_old) - Real_t(8.0) * (p_half + q_new) + (p_new + q_tilde)) * change / Real_t(6.0);
    e_new = cut_energy(e_new, m);
    pressure(e_new, compression, v_new, m, &p_new, &bvc, &pbvc);
    if (change <= Real_t(0.0)) {
        q_new = sound_speed(e_new, p_new, v_new, bvc, pbvc, m.density) * ql[i] + qq[i];
        if (fabs(q_new) < m.q_cut)
            q_new = Real_t(0.0);
    }

    e[i] = e_new;
    p[i] = p_new;
    q[i] = q_new;
    ss[i] = sound_speed(e_new, p_new, v_new, bvc, pbvc, m.density);
    v[i] = fabs(v_true - Real_t(1.0)) < m.v_cut ? Real_t(1.0) : v_true;
}
