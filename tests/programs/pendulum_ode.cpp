// A double pendulum by RK4, with std::array arithmetic and a callable right-hand side; energy drift as the result.
#include <array>
#include <cmath>
#include <cstdio>

using State = std::array<double, 4>;

constexpr State operator+(const State &a, const State &b)
{
    State r{};
    for (std::size_t i = 0; i < r.size(); ++i)
        r[i] = a[i] + b[i];
    return r;
}

constexpr State operator*(double s, const State &a)
{
    State r{};
    for (std::size_t i = 0; i < r.size(); ++i)
        r[i] = s * a[i];
    return r;
}

struct Pendulum {
    double m1, m2, l1, l2;
};

template <typename Rhs>
State rk4(Rhs &&f, const State &y, double h)
{
    const State k1 = f(y), k2 = f(y + 0.5 * h * k1), k3 = f(y + 0.5 * h * k2), k4 = f(y + h * k3);
    return y + (h / 6) * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
}

static State derivative(const Pendulum &p, const State &s)
{
    constexpr double g = 9.81;
    const auto [a, b, va, vb] = s;
    const double d = a - b, m = p.m1 + p.m2, den = 2 * p.m1 + p.m2 - p.m2 * std::cos(2 * d);
    const double acc_a = (-g * (2 * p.m1 + p.m2) * std::sin(a) - p.m2 * g * std::sin(a - 2 * b)
                          - 2 * std::sin(d) * p.m2 * (vb * vb * p.l2 + va * va * p.l1 * std::cos(d))) / (p.l1 * den);
    const double acc_b = 2 * std::sin(d) * (va * va * p.l1 * m + g * m * std::cos(a) + vb * vb * p.l2 * p.m2 * std::cos(d))
                         / (p.l2 * den);
    return {va, vb, acc_a, acc_b};
}

void simulate(const double *start, const Pendulum *pendulum, double *path, int steps, double h)
{
    State y{start[0], start[1], start[2], start[3]};
    for (int t = 0; t < steps; ++t) {
        y = rk4([&](const State &s) { return derivative(*pendulum, s); }, y, h);
        for (int k = 0; k < 4; ++k)
            path[4 * t + k] = y[k];
    }
}

int main()
{
    const double start[4] = {1.0, 0.5, 0.0, 0.0};
    const Pendulum p{1.0, 1.0, 1.0, 0.8};
    double path[400];
    simulate(start, &p, path, 100, 0.01);
    std::printf("%f %f\n", path[396], path[397]);
}
