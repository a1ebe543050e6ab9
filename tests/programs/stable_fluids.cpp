// Stable fluids on a square grid: diffusion by Gauss-Seidel (red and black), projection, semi-Lagrangian advection with
// bilinear sampling, buoyancy. A class that owns all its fields; swaps of vectors; OpenMP.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

class Fluid {
public:
    Fluid(int n, double viscosity, double dt)
        : n_(n), viscosity_(viscosity), dt_(dt), u_(cells()), v_(cells()), smoke_(cells()), u0_(cells()), v0_(cells()),
          smoke0_(cells()), pressure_(cells()), divergence_(cells())
    {
    }

    void set_smoke(const double *s) { std::copy_n(s, cells(), smoke_.data()); }
    void set_velocity(const double *u, const double *v)
    {
        std::copy_n(u, cells(), u_.data());
        std::copy_n(v, cells(), v_.data());
    }
    const std::vector<double> &smoke() const { return smoke_; }

    void step(double buoyancy, int sweeps)
    {
        for (int j = 1; j <= n_; ++j)
            for (int i = 1; i <= n_; ++i) v_[at(i, j)] += dt_ * buoyancy * smoke_[at(i, j)];
        std::swap(u_, u0_);
        std::swap(v_, v0_);
        relax(u_, u0_, dt_ * viscosity_ * n_ * n_, sweeps, 1);
        relax(v_, v0_, dt_ * viscosity_ * n_ * n_, sweeps, 2);
        project(sweeps);
        std::swap(u_, u0_);
        std::swap(v_, v0_);
        advect(u_, u0_, u0_, v0_, 1);
        advect(v_, v0_, u0_, v0_, 2);
        project(sweeps);
        smoke_.swap(smoke0_);
        advect(smoke_, smoke0_, u_, v_, 0);
    }

    double kinetic_energy() const
    {
        double e = 0;
#pragma omp parallel for reduction(+ : e)
        for (std::size_t k = 0; k < cells(); ++k) e += 0.5 * (u_[k] * u_[k] + v_[k] * v_[k]);
        return e / (n_ * n_);
    }

private:
    int n_;
    double viscosity_, dt_;
    std::vector<double> u_, v_, smoke_, u0_, v0_, smoke0_, pressure_, divergence_;

    std::size_t cells() const { return static_cast<std::size_t>(n_ + 2) * (n_ + 2); }
    int at(int i, int j) const { return i + (n_ + 2) * j; }

    void boundary(std::vector<double> &x, int kind) const
    {
        for (int k = 1; k <= n_; ++k) {
            x[at(0, k)] = kind == 1 ? -x[at(1, k)] : x[at(1, k)];
            x[at(n_ + 1, k)] = kind == 1 ? -x[at(n_, k)] : x[at(n_, k)];
            x[at(k, 0)] = kind == 2 ? -x[at(k, 1)] : x[at(k, 1)];
            x[at(k, n_ + 1)] = kind == 2 ? -x[at(k, n_)] : x[at(k, n_)];
        }
        x[at(0, 0)] = 0.5 * (x[at(1, 0)] + x[at(0, 1)]);
        x[at(n_ + 1, n_ + 1)] = 0.5 * (x[at(n_, n_ + 1)] + x[at(n_ + 1, n_)]);
    }

    void relax(std::vector<double> &x, const std::vector<double> &b, double a, int sweeps, int kind) const
    {
        for (int s = 0; s < sweeps; ++s) {
            for (int colour = 0; colour < 2; ++colour) {
#pragma omp parallel for
                for (int j = 1; j <= n_; ++j)
                    for (int i = 1 + (j + colour) % 2; i <= n_; i += 2)
                        x[at(i, j)] = (b[at(i, j)] + a * (x[at(i - 1, j)] + x[at(i + 1, j)] + x[at(i, j - 1)] + x[at(i, j + 1)])) /
                                      (1 + 4 * a);
            }
            boundary(x, kind);
        }
    }

    void project(int sweeps)
    {
        for (int j = 1; j <= n_; ++j)
            for (int i = 1; i <= n_; ++i) {
                divergence_[at(i, j)] = -0.5 * (u_[at(i + 1, j)] - u_[at(i - 1, j)] + v_[at(i, j + 1)] - v_[at(i, j - 1)]) / n_;
                pressure_[at(i, j)] = 0;
            }
        boundary(divergence_, 0);
        boundary(pressure_, 0);
        for (int s = 0; s < sweeps; ++s) {
            for (int j = 1; j <= n_; ++j)
                for (int i = 1; i <= n_; ++i)
                    pressure_[at(i, j)] = 0.25 * (divergence_[at(i, j)] + pressure_[at(i - 1, j)] + pressure_[at(i + 1, j)] +
                                                  pressure_[at(i, j - 1)] + pressure_[at(i, j + 1)]);
            boundary(pressure_, 0);
        }
        for (int j = 1; j <= n_; ++j)
            for (int i = 1; i <= n_; ++i) {
                u_[at(i, j)] -= 0.5 * n_ * (pressure_[at(i + 1, j)] - pressure_[at(i - 1, j)]);
                v_[at(i, j)] -= 0.5 * n_ * (pressure_[at(i, j + 1)] - pressure_[at(i, j - 1)]);
            }
        boundary(u_, 1);
        boundary(v_, 2);
    }

    void advect(std::vector<double> &x, const std::vector<double> &from, const std::vector<double> &u, const std::vector<double> &v,
                int kind) const
    {
#pragma omp parallel for collapse(2)
        for (int j = 1; j <= n_; ++j)
            for (int i = 1; i <= n_; ++i) {
                const double px = std::clamp(i - dt_ * n_ * u[at(i, j)], 0.5, n_ + 0.5);
                const double py = std::clamp(j - dt_ * n_ * v[at(i, j)], 0.5, n_ + 0.5);
                const int i0 = static_cast<int>(px), j0 = static_cast<int>(py);
                const double s = px - i0, t = py - j0;
                x[at(i, j)] = (1 - s) * ((1 - t) * from[at(i0, j0)] + t * from[at(i0, j0 + 1)]) +
                              s * ((1 - t) * from[at(i0 + 1, j0)] + t * from[at(i0 + 1, j0 + 1)]);
            }
        boundary(x, kind);
    }
};

// how far the smoke is from a picture after a few steps
double smoke_loss(const double *smoke, const double *u, const double *v, const double *target, int n, int steps, double buoyancy)
{
    Fluid fluid(n, 1e-3, 0.05);
    fluid.set_smoke(smoke);
    fluid.set_velocity(u, v);
    for (int s = 0; s < steps; ++s) fluid.step(buoyancy, 4);
    double loss = 0;
    for (std::size_t k = 0; k < fluid.smoke().size(); ++k) loss += std::pow(fluid.smoke()[k] - target[k], 2);
    return loss + 0.1 * fluid.kinetic_energy();
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 16;
    std::vector<double> smoke((n + 2) * (n + 2)), u(smoke), v(smoke), target(smoke);
    smoke[(n + 2) * 3 + n / 2] = 1;
    std::printf("%g\n", smoke_loss(smoke.data(), u.data(), v.data(), target.data(), n, 5, 1.0));
}
