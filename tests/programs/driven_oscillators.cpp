// Oscillators with drives of any kind: std::function with numbers in it that is handed on and moved into objects,
// adaptive Runge–Kutta steps over std::array by template and tableau, implicit midpoint steps with Newton's method.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iostream>
#include <utility>
#include <vector>

using State = std::array<double, 2>;

struct BogackiShampine {
    static constexpr int stages = 4;
    static constexpr double a[4][3] = {{}, {0.5}, {0, 0.75}, {2.0 / 9, 1.0 / 3, 4.0 / 9}};
    static constexpr double b[4] = {2.0 / 9, 1.0 / 3, 4.0 / 9, 0}, c[4] = {0, 0.5, 0.75, 1};
    static constexpr double e[4] = {-5.0 / 72, 1.0 / 12, 1.0 / 9, -1.0 / 8};
};

template <class Tableau, class F>
int integrate(F &&f, State &y, double t, double end, double tolerance)
{
    int taken = 0;
    double h = 0.1;
    while (t < end - 1e-12) {
        h = std::min(h, end - t);
        State k[Tableau::stages], next = y;
        double error = 0;
        for (int s = 0; s < Tableau::stages; ++s) {
            State z = y;
            for (int j = 0; j < s; ++j)
                for (std::size_t i = 0; i < z.size(); ++i)
                    z[i] += h * Tableau::a[s][j] * k[j][i];
            k[s] = f(t + Tableau::c[s] * h, z);
        }
        for (std::size_t i = 0; i < y.size(); ++i) {
            double e = 0;
            for (int s = 0; s < Tableau::stages; ++s) {
                next[i] += h * Tableau::b[s] * k[s][i];
                e += h * Tableau::e[s] * k[s][i];
            }
            error = std::max(error, std::fabs(e));
        }
        const bool accepted = error < tolerance;
        if (accepted) {
            t += h;
            y = next;
            ++taken;
        }
        h *= accepted ? 1.0 : 0.5;
    }
    return taken;
}

class Oscillator {
    double mu_, force_;
    std::function<double(double)> drive_;

public:
    Oscillator(double mu, double force, std::function<double(double)> drive)
        : mu_(mu), force_(force), drive_(std::move(drive))
    {
    }
    State operator()(double t, const State &y) const
    {
        return {y[1], mu_ * (1 - y[0] * y[0]) * y[1] - y[0] + force_ * drive_(t)};
    }
};

double driven(const double *parameters, double *series, int n)
{
    const double frequency = parameters[2], phase = parameters[3], decay = parameters[4];
    std::vector<Oscillator> systems;
    systems.emplace_back(parameters[0], parameters[1], [frequency](double t) { return std::cos(frequency * t); });
    systems.emplace_back(parameters[1], parameters[0],
                         [=](double t) { return std::exp(-decay * t) * std::sin(frequency * t + phase); });
    double sum = 0;
    for (const Oscillator &system : systems) {
        State y{0.5, 1};
        for (int i = 0; i < n; ++i) {
            integrate<BogackiShampine>(system, y, 0.2 * i, 0.2 * (i + 1), 1e-4);
            series[i] += y[0];
            sum += y[0] * y[1];
        }
    }
    return sum;
}

template <class F, class J>
static void implicit_midpoint(F f, J jacobian, double &u, double &v, double h, int steps)
{
    for (int s = 0; s < steps; ++s) {
        double x = u, y = v;
        for (int it = 0; it < 20; ++it) {
            const double mu = 0.5 * (u + x), mv = 0.5 * (v + y);
            auto [fx, fy] = f(mu, mv);
            const double rx = x - u - h * fx, ry = y - v - h * fy;
            const auto [jxx, jxy, jyx, jyy] = jacobian(mu, mv);
            const double a = 1 - 0.5 * h * jxx, b = -0.5 * h * jxy, c = -0.5 * h * jyx, d = 1 - 0.5 * h * jyy;
            const double det = a * d - b * c, dx = (d * rx - b * ry) / det, dy = (a * ry - c * rx) / det;
            x -= dx;
            y -= dy;
            if (std::hypot(dx, dy) < 1e-13)
                break;
        }
        u = x;
        v = y;
    }
}

void stiff(double *u, double *v, const double *stiffness, int n, double h, int steps)
{
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < n; ++i) {
        const double e = stiffness[i];
        implicit_midpoint([e](double x, double y) { return std::pair{y, ((1 - x * x) * y - x) / e}; },
                          [e](double x, double y) {
                              return std::array<double, 4>{0, 1, (-2 * x * y - 1) / e, (1 - x * x) / e};
                          },
                          u[i], v[i], h, steps);
    }
}

int main()
{
    const double parameters[5] = {1, 0.5, 2, 0.1, 0.3};
    double series[4] = {};
    std::cout << driven(parameters, series, 4) << ' ' << series[3] << '\n';
}
