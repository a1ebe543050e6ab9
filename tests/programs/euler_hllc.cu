// One-dimensional Euler equations: MUSCL with a switchable limiter and the HLLC Riemann solver.
#include <cmath>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

enum class Limiter : int { None, Minmod, VanLeer };

struct Prim { double rho, u, p; };
struct Cons { double rho, mom, ene; };

static constexpr double kGamma = 1.4;

__device__ Prim to_prim(const Cons &c)
{
    Prim w;
    w.rho = c.rho;
    w.u = c.mom / c.rho;
    w.p = (kGamma - 1.0) * (c.ene - 0.5 * c.mom * w.u);
    return w;
}

__device__ Cons to_cons(const Prim &w)
{
    return Cons{w.rho, w.rho * w.u, w.p / (kGamma - 1.0) + 0.5 * w.rho * w.u * w.u};
}

__device__ Cons flux(const Prim &w)
{
    const double e = w.p / (kGamma - 1.0) + 0.5 * w.rho * w.u * w.u;
    return Cons{w.rho * w.u, w.rho * w.u * w.u + w.p, w.u * (e + w.p)};
}

__device__ double limited(double a, double b, Limiter kind)
{
    switch (kind) {
    case Limiter::None:
        return 0.5 * (a + b);
    case Limiter::Minmod:
        return a * b <= 0.0 ? 0.0 : (fabs(a) < fabs(b) ? a : b);
    case Limiter::VanLeer:
        return a * b <= 0.0 ? 0.0 : 2.0 * a * b / (a + b);
    default:
        return 0.0;
    }
}

__device__ Prim slope(const Prim &l, const Prim &c, const Prim &r, Limiter kind)
{
    return Prim{limited(c.rho - l.rho, r.rho - c.rho, kind), limited(c.u - l.u, r.u - c.u, kind),
                limited(c.p - l.p, r.p - c.p, kind)};
}

__device__ Prim edge(const Prim &c, const Prim &s, double side)
{
    return Prim{c.rho + side * s.rho, c.u + side * s.u, c.p + side * s.p};
}

__device__ Cons star(const Prim &w, double s, double sm)
{
    const Cons c = to_cons(w);
    const double scale = w.rho * (s - w.u) / (s - sm);
    const double energy = c.ene / w.rho + (sm - w.u) * (sm + w.p / (w.rho * (s - w.u)));
    return Cons{scale, scale * sm, scale * energy};
}

__device__ void hllc(const Prim &l, const Prim &r, Cons *out)
{
    const double al = sqrt(kGamma * l.p / l.rho), ar = sqrt(kGamma * r.p / r.rho);
    const double sl = fmin(l.u - al, r.u - ar), sr = fmax(l.u + al, r.u + ar);
    const double sm = (r.p - l.p + l.rho * l.u * (sl - l.u) - r.rho * r.u * (sr - r.u))
                      / (l.rho * (sl - l.u) - r.rho * (sr - r.u));
    if (sl >= 0.0) { *out = flux(l); return; }
    if (sr <= 0.0) { *out = flux(r); return; }
    const bool left = sm >= 0.0;
    const Prim &w = left ? l : r;
    const double s = left ? sl : sr;
    const Cons f = flux(w), c = to_cons(w), cs = star(w, s, sm);
    out->rho = f.rho + s * (cs.rho - c.rho);
    out->mom = f.mom + s * (cs.mom - c.mom);
    out->ene = f.ene + s * (cs.ene - c.ene);
}

__global__ void euler_step(const Cons *__restrict__ u, Cons *__restrict__ unew, double dtdx, int n, Limiter kind)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (i < 2 || i >= n - 2) {
        unew[i] = u[i];
        return;
    }
    Prim w[5];
    for (int k = 0; k < 5; ++k)
        w[k] = to_prim(u[i - 2 + k]);
    Prim s[3];
    for (int k = 0; k < 3; ++k)
        s[k] = slope(w[k], w[k + 1], w[k + 2], kind);
    Cons fl, fr;
    hllc(edge(w[1], s[0], 0.5), edge(w[2], s[1], -0.5), &fl);
    hllc(edge(w[2], s[1], 0.5), edge(w[3], s[2], -0.5), &fr);
    Cons c = u[i];
    c.rho -= dtdx * (fr.rho - fl.rho);
    c.mom -= dtdx * (fr.mom - fl.mom);
    c.ene -= dtdx * (fr.ene - fl.ene);
    unew[i] = c;
}

int main()
{
    const int n = 256;
    std::vector<Cons> u(n);
    for (int i = 0; i < n; ++i)
        u[i] = i < n / 2 ? Cons{1.0, 0.0, 2.5} : Cons{0.125, 0.0, 0.25};
    Cons *a, *b;
    cudaMalloc(&a, n * sizeof(Cons));
    cudaMalloc(&b, n * sizeof(Cons));
    cudaMemcpy(a, u.data(), n * sizeof(Cons), cudaMemcpyHostToDevice);
    for (int t = 0; t < 100; ++t) {
        euler_step<<<(n + 63) / 64, 64>>>(a, b, 0.2, n, Limiter::VanLeer);
        std::swap(a, b);
    }
    cudaMemcpy(u.data(), a, n * sizeof(Cons), cudaMemcpyDeviceToHost);
    printf("rho at the middle: %f\n", u[n / 2].rho);
    return 0;
}
