// Lists of std::function whose captures are numbers, arrays, addresses or nothing: a basis that is fitted, and a chain of maps.
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <vector>

using Basis = std::vector<std::function<double(double)>>;

static Basis make_basis(const double *theta, const std::vector<double> &knots)
{
    Basis basis;
    const double decay = theta[0], frequency = theta[1], phase = theta[2];
    basis.push_back([](double) { return 1.0; });
    basis.push_back([](double t) { return t; });
    basis.emplace_back([decay](double t) { return std::exp(-decay * t); });
    basis.emplace_back([frequency, phase](double t) { return std::sin(frequency * t + phase); });
    for (double k : knots)
        basis.emplace_back([k](double t) { return t > k ? (t - k) * (t - k) * (t - k) : 0.0; });
    std::array<double, 4> window{theta[3], decay, frequency, 1.0};
    basis.emplace_back([window](double t) {
        double s = 0;
        for (double w : window)
            s += w * t;
        return std::cos(s);
    });
    return basis;
}

double misfit(const double *theta, const double *coefficients, const double *t, const double *y, int n)
{
    const std::vector<double> knots{0.25, 0.5, 0.75};
    const Basis basis = make_basis(theta, knots);
    double chi2 = 0;
    for (int i = 0; i < n; ++i) {
        double model = 0;
        for (std::size_t b = 0; b < basis.size(); ++b)
            model += coefficients[b] * basis[b](t[i]);
        chi2 += (y[i] - model) * (y[i] - model);
    }
    return chi2;
}

double chained(const double *a, int n, double x)
{
    std::vector<std::function<double(double)>> chain;
    for (int i = 0; i < n; ++i) {
        if (i % 3 == 0)
            chain.push_back([c = a[i]](double v) { return c * v; });
        else if (i % 3 == 1)
            chain.push_back([c = a[i]](double v) { return v + c * v * v; });
        else
            chain.push_back([a, i](double v) { return std::tanh(v + a[i]); });
    }
    return std::accumulate(chain.begin(), chain.end(), x, [](double v, const auto &f) { return f(v); });
}

int main()
{
    const double theta[4] = {1, 1, 1, 1}, c[8] = {1, 1, 1, 1, 1, 1, 1, 1}, t[2] = {0.2, 0.6}, y[2] = {1, 2};
    std::printf("%g %g\n", misfit(theta, c, t, y, 2), chained(theta, 4, 0.5));
}
