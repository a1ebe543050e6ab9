// Nodal analysis of a circuit: netlist of components by inheritance, values from a catalogue, complex AC sweep by Gaussian
// elimination, DC operating point with diodes by Newton.
#include <cmath>
#include <complex>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <vector>

using Complex = std::complex<double>;

struct Stamp {
    int n;
    std::vector<Complex> y;
    std::vector<Complex> i;
    explicit Stamp(int nodes) : n(nodes), y(nodes * nodes), i(nodes) {}
    void admittance(int a, int b, Complex g)
    {
        if (a >= 0)
            y[a * n + a] += g;
        if (b >= 0)
            y[b * n + b] += g;
        if (a >= 0 && b >= 0) {
            y[a * n + b] -= g;
            y[b * n + a] -= g;
        }
    }
    void current(int a, Complex c)
    {
        if (a >= 0)
            i[a] += c;
    }
};

struct Component {
    int a, b;
    Component(int from, int to) : a(from), b(to) {}
    virtual ~Component() = default;
    virtual void stamp(Stamp &s, double omega) const = 0;
};

struct Resistor : Component {
    double ohms;
    Resistor(int from, int to, double r) : Component(from, to), ohms(r) {}
    void stamp(Stamp &s, double) const override { s.admittance(a, b, 1.0 / ohms); }
};
struct Capacitor : Component {
    double farads;
    Capacitor(int from, int to, double c) : Component(from, to), farads(c) {}
    void stamp(Stamp &s, double w) const override { s.admittance(a, b, Complex(0, w * farads)); }
};
struct Inductor : Component {
    double henries, loss;
    Inductor(int from, int to, double l, double r) : Component(from, to), henries(l), loss(r) {}
    void stamp(Stamp &s, double w) const override { s.admittance(a, b, 1.0 / Complex(loss, w * henries)); }
};
struct Source : Component {
    double amps;
    Source(int from, int to, double c) : Component(from, to), amps(c) {}
    void stamp(Stamp &s, double) const override
    {
        s.current(b, amps);
        s.current(a, -amps);
    }
};

struct Record {
    int kind, a, b;
    int catalogue; // which standard value it has, or -1
    double value, second;
};

static const double catalogue[] = {1.0, 1.5, 2.2, 3.3, 4.7, 6.8};

static std::vector<std::unique_ptr<Component>> parse(const Record *list, int count)
{
    std::vector<std::unique_ptr<Component>> parts;
    for (int k = 0; k < count; ++k) {
        const Record &r = list[k];
        const double *value = r.catalogue < 0 ? &r.value : &catalogue[r.catalogue];
        switch (r.kind) {
        case 'R':
            parts.push_back(std::make_unique<Resistor>(r.a, r.b, *value));
            break;
        case 'C':
            parts.push_back(std::make_unique<Capacitor>(r.a, r.b, *value));
            break;
        case 'L':
            parts.push_back(std::make_unique<Inductor>(r.a, r.b, *value, r.second));
            break;
        case 'I':
            parts.push_back(std::make_unique<Source>(r.a, r.b, *value));
            break;
        default:
            throw std::invalid_argument("unknown component");
        }
    }
    return parts;
}

static std::vector<Complex> solve(Stamp s)
{
    const int n = s.n;
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int r = k + 1; r < n; ++r)
            if (std::abs(s.y[r * n + k]) > std::abs(s.y[pivot * n + k]))
                pivot = r;
        if (pivot != k) {
            for (int c = 0; c < n; ++c)
                std::swap(s.y[k * n + c], s.y[pivot * n + c]);
            std::swap(s.i[k], s.i[pivot]);
        }
        for (int r = k + 1; r < n; ++r) {
            const Complex f = s.y[r * n + k] / s.y[k * n + k];
            for (int c = k; c < n; ++c)
                s.y[r * n + c] -= f * s.y[k * n + c];
            s.i[r] -= f * s.i[k];
        }
    }
    std::vector<Complex> v(n);
    for (int k = n - 1; k >= 0; --k) {
        Complex sum = s.i[k];
        for (int c = k + 1; c < n; ++c)
            sum -= s.y[k * n + c] * v[c];
        v[k] = sum / s.y[k * n + k];
    }
    return v;
}

double sweep(const Record *list, int count, int nodes, const double *omegas, double *magnitude, int points)
{
    const auto parts = parse(list, count);
    double phase = 0;
#pragma omp parallel for reduction(+ : phase)
    for (int p = 0; p < points; ++p) {
        Stamp s(nodes);
        for (const auto &part : parts)
            part->stamp(s, omegas[p]);
        const auto v = solve(std::move(s));
        magnitude[p] = 20 * std::log10(std::abs(v[nodes - 1]));
        phase += std::arg(v[nodes - 1]);
    }
    return phase;
}

// series of diode and resistor nodes, driven by a voltage: Newton with damping
double diode_ladder(const double *resistance, const double *saturation, int stages, double drive)
{
    std::vector<double> v(stages, 0.1), r(stages), step(stages);
    std::vector<std::vector<double>> j(stages, std::vector<double>(stages));
    const double vt = 0.3;
    for (int it = 0; it < 60; ++it) {
        double worst = 0;
        for (auto &row : j)
            std::fill(row.begin(), row.end(), 0.0);
        for (int k = 0; k < stages; ++k) {
            const double left = k ? v[k - 1] : drive, g = 1 / resistance[k], e = std::exp(v[k] / vt);
            r[k] = saturation[k] * (e - 1) + g * (v[k] - left);
            j[k][k] += saturation[k] * e / vt + g;
            if (k)
                j[k][k - 1] -= g;
            if (k + 1 < stages) {
                const double h = 1 / resistance[k + 1];
                r[k] += h * (v[k] - v[k + 1]);
                j[k][k] += h;
                j[k][k + 1] -= h;
            }
            worst = std::max(worst, std::fabs(r[k]));
        }
        if (worst < 1e-14)
            break;
        step = r;
        for (int k = 0; k < stages; ++k)
            for (int m = k + 1; m < stages; ++m) {
                const double f = j[m][k] / j[k][k];
                for (int c = k; c < stages; ++c)
                    j[m][c] -= f * j[k][c];
                step[m] -= f * step[k];
            }
        for (int k = stages; k-- > 0;) {
            for (int c = k + 1; c < stages; ++c)
                step[k] -= j[k][c] * step[c];
            step[k] /= j[k][k];
            v[k] -= std::min(std::max(step[k], -0.2), 0.2);
        }
    }
    return v.back();
}

int main()
{
    const Record list[] = {
        {'I', -1, 0, -1, 1, 0}, {'R', 0, -1, 0, 0, 0}, {'C', 0, 1, -1, 1e-3, 0}, {'R', 1, -1, -1, 5, 0}};
    const double w[] = {10, 100};
    double m[2];
    std::cout << sweep(list, 4, 2, w, m, 2) << ' ' << m[0] << '\n';
}
