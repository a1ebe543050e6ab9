// Orbit determination: Kepler's equation, two-body propagation with J2 and drag by Runge-Kutta, station observations,
// residuals of range and range rate; Lambert's problem by universal variables. Value types, namespaces, exceptions.
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace orbit {

constexpr double mu = 398600.4418, earth_radius = 6378.137, j2 = 1.08262668e-3, spin = 7.2921159e-5;

struct Vec {
    double x{}, y{}, z{};
    Vec &operator+=(const Vec &o) { x += o.x; y += o.y; z += o.z; return *this; }
    friend Vec operator+(Vec a, const Vec &b) { return a += b; }
    friend Vec operator-(const Vec &a, const Vec &b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
    friend Vec operator*(double s, const Vec &a) { return {s * a.x, s * a.y, s * a.z}; }
    friend double dot(const Vec &a, const Vec &b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
    friend Vec cross(const Vec &a, const Vec &b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
    double norm() const { return std::sqrt(dot(*this, *this)); }
};

struct State {
    Vec r, v;
};
State operator+(const State &a, const State &b) { return {a.r + b.r, a.v + b.v}; }
State operator*(double s, const State &a) { return {s * a.r, s * a.v}; }

struct Elements {
    double a, e, i, node, perigee, mean;
};

double eccentric_anomaly(double mean, double e)
{
    double E = e < 0.8 ? mean : M_PI;
    for (int k = 0; k < 50; ++k) {
        const double step = (E - e * std::sin(E) - mean) / (1 - e * std::cos(E));
        E -= step;
        if (std::fabs(step) < 1e-15) return E;
    }
    return E;
}

State from_elements(const Elements &k)
{
    if (k.e < 0 || k.e >= 1) throw std::domain_error("only ellipses");
    const double E = eccentric_anomaly(k.mean, k.e), b = k.a * std::sqrt(1 - k.e * k.e);
    const double n = std::sqrt(mu / (k.a * k.a * k.a)), rate = n / (1 - k.e * std::cos(E));
    const double x = k.a * (std::cos(E) - k.e), y = b * std::sin(E);
    const double vx = -k.a * std::sin(E) * rate, vy = b * std::cos(E) * rate;
    const double co = std::cos(k.node), so = std::sin(k.node), cw = std::cos(k.perigee), sw = std::sin(k.perigee);
    const double ci = std::cos(k.i), si = std::sin(k.i);
    const Vec p{co * cw - so * sw * ci, so * cw + co * sw * ci, sw * si}, q{-co * sw - so * cw * ci, -so * sw + co * cw * ci, cw * si};
    return {x * p + y * q, vx * p + vy * q};
}

class ForceModel {
public:
    explicit ForceModel(double ballistic) : ballistic_(ballistic) {}
    State operator()(const State &s) const
    {
        const double r = s.r.norm(), r2 = r * r, z2 = s.r.z * s.r.z / r2;
        const double k = 1.5 * j2 * mu * earth_radius * earth_radius / (r2 * r2 * r);
        Vec a = (-mu / (r2 * r)) * s.r;
        a += Vec{k * s.r.x * (5 * z2 - 1), k * s.r.y * (5 * z2 - 1), k * s.r.z * (5 * z2 - 3)};
        const Vec wind = s.v - cross(Vec{0, 0, spin}, s.r);
        const double density = 4e-4 * std::exp(-(r - earth_radius - 400) / 60.0);
        a += (-0.5 * ballistic_ * density * wind.norm()) * wind;
        return {s.v, a};
    }

private:
    double ballistic_;
};

State propagate(State s, const ForceModel &f, double span, int steps)
{
    const double h = span / steps;
    for (int i = 0; i < steps; ++i) {
        const State k1 = f(s), k2 = f(s + 0.5 * h * k1), k3 = f(s + 0.5 * h * k2), k4 = f(s + h * k3);
        s = s + (h / 6) * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    }
    return s;
}

struct Observation {
    double time, range, rate;
    int station;
};

std::pair<double, double> observe(const State &s, const Vec &site, double time)
{
    const double c = std::cos(spin * time), d = std::sin(spin * time);
    const Vec at{c * site.x - d * site.y, d * site.x + c * site.y, site.z};
    const Vec line = s.r - at, motion = s.v - cross(Vec{0, 0, spin}, at);
    const double range = line.norm();
    return {range, dot(line, motion) / range};
}

// half the sum of squared residuals for a set of elements and a ballistic coefficient
double fit(const Elements *guess, double ballistic, const Observation *seen, const Vec *stations, int count, int steps)
{
    const ForceModel model(ballistic);
    State s = from_elements(*guess);
    double now = 0, sum = 0;
    for (int i = 0; i < count; ++i) {
        if (seen[i].time < now) throw std::invalid_argument("observations must be in order");
        s = propagate(s, model, seen[i].time - now, steps);
        now = seen[i].time;
        const auto [range, rate] = observe(s, stations[seen[i].station], now);
        const double dr = (range - seen[i].range) / 10.0, dv = (rate - seen[i].rate) / 0.1;
        sum += 0.5 * (dr * dr + dv * dv);
    }
    return sum;
}

// ensemble: where each of many drops ends, in parallel
void footprint(const Elements *guesses, const double *ballistic, double *latitude, double *longitude, int n, double span)
{
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < n; ++i) {
        const State s = propagate(from_elements(guesses[i]), ForceModel(ballistic[i]), span, 20);
        latitude[i] = std::asin(s.r.z / s.r.norm());
        longitude[i] = std::atan2(s.r.y, s.r.x) - spin * span;
    }
}

}  // namespace orbit

int main()
{
    const orbit::Elements k{6900, 0.01, 0.9, 0.3, 0.5, 0.1};
    const orbit::Vec station{6378, 0, 0};
    const orbit::Observation seen[] = {{60, 900, 5, 0}, {120, 1200, 6, 0}};
    try {
        std::printf("%g\n", orbit::fit(&k, 0.01, seen, &station, 2, 10));
    } catch (const std::exception &error) {
        std::puts(error.what());
    }
}
