// Adaptive Simpson quadrature of a parametrised integrand: recursion, function objects, std::function, virtual functions.
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>

template <class F>
double simpson(const F &f, double a, double b, double fa, double fm, double fb, double whole, double tolerance, int depth)
{
    const double m = 0.5 * (a + b), l = 0.5 * (a + m), r = 0.5 * (m + b);
    const double fl = f(l), fr = f(r);
    const double left = (m - a) / 6 * (fa + 4 * fl + fm), right = (b - m) / 6 * (fm + 4 * fr + fb);
    const double delta = left + right - whole;
    if (depth <= 0 || std::fabs(delta) <= 15 * tolerance)
        return left + right + delta / 15;
    return simpson(f, a, m, fa, fl, fm, left, tolerance / 2, depth - 1)
           + simpson(f, m, b, fm, fr, fb, right, tolerance / 2, depth - 1);
}

template <class F>
double integrate(const F &f, double a, double b, double tolerance)
{
    const double fa = f(a), fb = f(b), fm = f(0.5 * (a + b));
    return simpson(f, a, b, fa, fm, fb, (b - a) / 6 * (fa + 4 * fm + fb), tolerance, 8);
}

double planck_band(const double *temperature, double low, double high)
{
    const double t = *temperature;
    const auto radiance = [t](double x) { return x * x * x / std::expm1(x / t); };
    return integrate(radiance, low, high, 1e-7);
}

double moment(const double *weights, int count, double high)
{
    std::function<double(double)> f = [=](double x) {
        double p = 0;
        for (int i = count - 1; i >= 0; --i)
            p = p * x + weights[i];
        return p * std::exp(-x);
    };
    return integrate(f, 0.0, high, 1e-7);
}

struct Potential {
    virtual ~Potential() = default;
    virtual double operator()(double r) const = 0;
};

struct Morse final : Potential {
    Morse(double d, double a, double r0) : depth(d), width(a), centre(r0) {}
    double operator()(double r) const override
    {
        const double e = 1 - std::exp(-width * (r - centre));
        return depth * e * e;
    }
    double depth, width, centre;
};

double action(const double *parameters, double energy)
{
    const std::unique_ptr<Potential> v = std::make_unique<Morse>(parameters[0], parameters[1], parameters[2]);
    double sum = 0;
    for (int i = 0; i < 20; ++i)
        sum += std::sqrt(energy - (*v)(0.9 + 0.02 * i));
    return sum;
}

int main()
{
    const double t = 1.5, w[] = {1, 2, 3}, morse[] = {2, 1, 1};
    std::printf("%g %g %g\n", planck_band(&t, 0.1, 5), moment(w, 3, 4), action(morse, 5));
}
