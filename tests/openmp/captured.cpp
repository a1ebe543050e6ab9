// Regions that read numbers which their function was given as constants: by themselves, in a struct, in a struct of arrays, in an object.
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

double spread(const double *start, int n, int steps, double rate)
{
    std::vector<double> u(start, start + n), v(u);
    for (int s = 0; s < steps; ++s) {
#pragma omp parallel for
        for (int i = 1; i < n - 1; ++i)
            v[i] = u[i] + rate * (u[i - 1] - 2 * u[i] + u[i + 1]) * u[i];
        std::swap(u, v);
    }
    double sum = 0;
    for (double x : u)
        sum += x * x;
    return sum;
}

enum Edge { Fixed, Free };

struct Flow {
    double dt, dx, nu;
    int steps;
    Edge edge;
};

void burgers(double *u, double *v, int n, Flow p)
{
    for (int s = 0; s < p.steps; ++s) {
#pragma omp parallel for
        for (int i = 1; i < n - 1; ++i)
            v[i] = u[i] - p.dt / (2 * p.dx) * u[i] * (u[i + 1] - u[i - 1]) + p.nu * p.dt / (p.dx * p.dx) * (u[i - 1] - 2 * u[i] + u[i + 1]);
        std::swap(u, v);
        p.dt *= 0.9;
    }
}

void viscous(double *u, double *v, int n, const Flow &p)
{
    burgers(u, v, n, p);
}

struct Grid {
    double *u, *v;
    const double *k;
    int n;
    double dt, dx;
};

void advance(Grid &g, int steps)
{
    for (int s = 0; s < steps; ++s) {
#pragma omp parallel for
        for (int i = 1; i < g.n - 1; ++i)
            g.v[i] = g.u[i] + g.dt / (g.dx * g.dx) * g.k[i] * (g.u[i - 1] - 2 * g.u[i] + g.u[i + 1]);
#pragma omp parallel for
        for (int i = 1; i < g.n - 1; ++i)
            g.u[i] = g.v[i] * g.v[i];
    }
}

class Solver
{
    std::vector<double> u, v;
    double dt, dx;

public:
    Solver(const double *start, int n, double dt_, double dx_) : u(start, start + n), v(start, start + n), dt(dt_), dx(dx_) {}
    void step()
    {
        const int n = u.size();
#pragma omp parallel for
        for (int i = 1; i < n - 1; ++i)
            v[i] = u[i] + dt / (dx * dx) * (u[i - 1] - 2 * u[i] + u[i + 1]) * u[i];
        u.swap(v);
    }
    void halve() { dt /= 2; }
    double energy() const
    {
        double e = 0;
#pragma omp parallel for reduction(+ : e)
        for (size_t i = 0; i < u.size(); ++i)
            e += 0.5 * dx * u[i] * u[i];
        return e;
    }
};

double solve(const double *start, int n, int steps, double dt, double dx)
{
    auto s = std::make_unique<Solver>(start, n, dt, dx);
    for (int i = 0; i < steps; ++i) {
        s->step();
        s->halve();
    }
    return s->energy();
}

void smooth(const double *x, double *y, int n, double sigma)
{
    std::vector<double> w(5);
    for (int k = -2; k <= 2; ++k)
        w[k + 2] = std::exp(-k * k / (2 * sigma * sigma));
#pragma omp parallel for
    for (int i = 2; i < n - 2; ++i) {
        double s = 0;
        for (int k = -2; k <= 2; ++k)
            s += w[k + 2] * x[i + k] * x[i];
        y[i] = s;
    }
}

// What a region reads of an object is what another one has left there.
struct Scale {
    double factor, total;
};

double rescaled(const double *x, int n, double factor)
{
    Scale s{factor, 0};
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; ++i)
        sum += s.factor * x[i] * x[i];
    s.factor = sum / n;
    s.total = sum;
    double result = 0;
#pragma omp parallel for reduction(+ : result)
    for (int i = 0; i < n; ++i)
        result += s.factor * std::sin(x[i]) + s.total;
    return result;
}

// Vectors by reference: threads meet in the shadows of both.
void pairs(const std::vector<double> &x, std::vector<double> &y, std::vector<double> &z, int steps)
{
    const int n = x.size();
    for (int s = 0; s < steps; ++s) {
#pragma omp parallel for
        for (int i = 0; i < n; ++i)
            y[i] = y[i] * x[(i + 7) % n] + z[(i * 5 + s) % n];
#pragma omp parallel for
        for (int i = 0; i < n; ++i)
            z[i] = z[i] - 0.1 * y[(i + 3) % n] * y[(i * 11) % n];
    }
}
