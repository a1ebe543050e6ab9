// Two-phase flow in porous media: pressure by conjugate gradients, saturation by upwind transport (IMPES), wells, relative
// permeabilities by Corey's law. Classes with vectors, exceptions for bad input, OpenMP in the sweeps.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace reservoir {

struct Fluid {
    double viscosity_water = 1.0;
    double viscosity_oil = 5.0;
    double exponent = 2.0;

    double mobility_water(double s) const { return std::pow(s, exponent) / viscosity_water; }
    double mobility_oil(double s) const { return std::pow(1.0 - s, exponent) / viscosity_oil; }
    double total(double s) const { return mobility_water(s) + mobility_oil(s); }
    double fraction(double s) const { return mobility_water(s) / total(s); }
};

class Field {
public:
    Field(int nx, int ny, double value = 0.0) : nx_(nx), ny_(ny), data_(static_cast<size_t>(nx) * ny, value)
    {
        if (nx < 2 || ny < 2)
            throw std::invalid_argument("a field needs at least 2 x 2 cells, not " + std::to_string(nx) + " x " + std::to_string(ny));
    }
    Field(int nx, int ny, const double *from) : Field(nx, ny) { std::copy(from, from + nx * ny, data_.begin()); }
    double &operator()(int i, int j) { return data_[static_cast<size_t>(j) * nx_ + i]; }
    double operator()(int i, int j) const { return data_[static_cast<size_t>(j) * nx_ + i]; }
    double &operator[](size_t k) { return data_[k]; }
    double operator[](size_t k) const { return data_[k]; }
    size_t size() const { return data_.size(); }
    int nx() const { return nx_; }
    int ny() const { return ny_; }
    auto begin() const { return data_.begin(); }
    auto end() const { return data_.end(); }

private:
    int nx_, ny_;
    std::vector<double> data_;
};

double dot(const Field &a, const Field &b)
{
    double sum = 0.0;
#pragma omp parallel for reduction(+ : sum)
    for (size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
}

// transmissibilities between neighbours: harmonic means of mobility times permeability
class PressureSystem {
public:
    PressureSystem(const Field &permeability, const Field &saturation, const Fluid &fluid)
        : east_(permeability.nx(), permeability.ny()), north_(permeability.nx(), permeability.ny())
    {
        const int nx = permeability.nx(), ny = permeability.ny();
        auto conductivity = [&](int i, int j) { return permeability(i, j) * fluid.total(saturation(i, j)); };
#pragma omp parallel for
        for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i) {
                const double here = conductivity(i, j);
                if (i + 1 < nx) east_(i, j) = 2.0 / (1.0 / here + 1.0 / conductivity(i + 1, j));
                if (j + 1 < ny) north_(i, j) = 2.0 / (1.0 / here + 1.0 / conductivity(i, j + 1));
            }
    }

    void apply(const Field &p, Field &out) const
    {
        const int nx = p.nx(), ny = p.ny();
#pragma omp parallel for
        for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i) {
                double sum = 1e-3 * p(i, j);      // compressibility fixes the level
                if (i + 1 < nx) sum += east_(i, j) * (p(i, j) - p(i + 1, j));
                if (i > 0) sum += east_(i - 1, j) * (p(i, j) - p(i - 1, j));
                if (j + 1 < ny) sum += north_(i, j) * (p(i, j) - p(i, j + 1));
                if (j > 0) sum += north_(i, j - 1) * (p(i, j) - p(i, j - 1));
                out(i, j) = sum;
            }
    }

    double east(int i, int j) const { return east_(i, j); }
    double north(int i, int j) const { return north_(i, j); }

private:
    Field east_, north_;
};

int conjugate_gradients(const PressureSystem &A, const Field &b, Field &x, int most, double tolerance)
{
    Field r = b, p = b, q(b.nx(), b.ny());
    for (size_t k = 0; k < x.size(); ++k) x[k] = 0.0;
    double rho = dot(r, r);
    const double stop = tolerance * tolerance * rho;
    int iterations = 0;
    while (rho > stop && iterations < most) {
        A.apply(p, q);
        const double alpha = rho / dot(p, q);
        for (size_t k = 0; k < x.size(); ++k) {
            x[k] += alpha * p[k];
            r[k] -= alpha * q[k];
        }
        const double next = dot(r, r);
        for (size_t k = 0; k < x.size(); ++k) p[k] = r[k] + next / rho * p[k];
        rho = next;
        ++iterations;
    }
    return iterations;
}

// water flood from one corner to the opposite one; returns the oil that is produced
double water_flood(const double *permeability, const double *porosity, const double *rate, int nx, int ny, int steps, double dt)
{
    const Fluid fluid;
    const Field K(nx, ny, permeability);
    Field S(nx, ny, 0.1), P(nx, ny), source(nx, ny);
    if (*rate <= 0.0) throw std::domain_error("the injection rate must be positive");
    source(0, 0) = *rate;
    source(nx - 1, ny - 1) = -*rate;
    double produced = 0.0;
    for (int n = 0; n < steps; ++n) {
        const PressureSystem system(K, S, fluid);
        conjugate_gradients(system, source, P, 4 * nx * ny, 1e-13);
        Field change(nx, ny);
        auto exchange = [&](int ia, int ja, int ib, int jb, double conductance) {
            const double flow = conductance * (P(ia, ja) - P(ib, jb));
            const double f = fluid.fraction(flow > 0 ? S(ia, ja) : S(ib, jb));
            change(ia, ja) -= f * flow;
            change(ib, jb) += f * flow;
        };
        for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i) {
                if (i + 1 < nx) exchange(i, j, i + 1, j, system.east(i, j));
                if (j + 1 < ny) exchange(i, j, i, j + 1, system.north(i, j));
            }
        change(0, 0) += *rate;
        const double cut = fluid.fraction(S(nx - 1, ny - 1));
        change(nx - 1, ny - 1) -= *rate * cut;
        produced += dt * *rate * (1.0 - cut);
        for (size_t k = 0; k < S.size(); ++k) S[k] = std::clamp(S[k] + dt * change[k] / porosity[k], 0.0, 1.0);
    }
    return produced;
}

}  // namespace reservoir

int main()
{
    const int nx = 12, ny = 10;
    std::vector<double> k(nx * ny, 1.0), phi(nx * ny, 0.2);
    const double rate = 0.05;
    try {
        std::printf("produced %g\n", reservoir::water_flood(k.data(), phi.data(), &rate, nx, ny, 10, 0.2));
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
