// Time steps as programs of several functions have them: numbers in a struct, vectors in a class, fields in a struct of arrays.
#include <cmath>
#include <vector>

struct Settings {
    double dx, dt, viscosity;
    int n, steps;
};

static double flux(double left, double right)
{
    const double speed = std::fmax(std::fabs(left), std::fabs(right));
    return 0.25 * (left * left + right * right) - 0.5 * speed * (right - left);
}

static void burgers_step(const std::vector<double> &u, std::vector<double> &next, const Settings &s)
{
    const double a = s.dt / s.dx, b = s.viscosity * s.dt / (s.dx * s.dx);
#pragma omp parallel for
    for (int i = 0; i < s.n; i++) {
        const double left = u[i == 0 ? s.n - 1 : i - 1], right = u[i == s.n - 1 ? 0 : i + 1];
        next[i] = u[i] - a * (flux(u[i], right) - flux(left, u[i])) + b * (left - 2 * u[i] + right);
    }
}

// Burgers' equation on a ring, by the local Lax-Friedrichs flux.
double burgers(const double *start, const Settings &s)
{
    std::vector<double> u(start, start + s.n), next(s.n);
    for (int k = 0; k < s.steps; k++) {
        burgers_step(u, next, s);
        u.swap(next);
    }
    double energy = 0;
#pragma omp parallel for reduction(+ : energy)
    for (int i = 0; i < s.n; i++)
        energy += 0.5 * u[i] * u[i] * s.dx;
    return energy;
}

class Membrane {
public:
    Membrane(const double *shape, int nx, int ny, double courant)
        : nx(nx), ny(ny), c2(courant * courant), before(shape, shape + size_t(nx) * ny), now(before), after(before.size())
    {
    }

    void step()
    {
#pragma omp parallel for schedule(static)
        for (int y = 1; y < ny - 1; y++)
            for (int x = 1; x < nx - 1; x++)
                after[at(x, y)] = 2 * now[at(x, y)] - before[at(x, y)] + c2 * around(x, y);
        before.swap(now);
        now.swap(after);
    }

    double energy() const
    {
        double sum = 0;
#pragma omp parallel for reduction(+ : sum)
        for (size_t i = 0; i < now.size(); i++)
            sum += (now[i] - before[i]) * (now[i] - before[i]);
        return sum;
    }

private:
    size_t at(int x, int y) const { return size_t(y) * nx + x; }
    double around(int x, int y) const { return now[at(x - 1, y)] + now[at(x + 1, y)] + now[at(x, y - 1)] + now[at(x, y + 1)] - 4 * now[at(x, y)]; }

    int nx, ny;
    double c2;
    std::vector<double> before, now, after;
};

// The wave equation on a membrane that is held at its edges.
double membrane(const double *shape, int nx, int ny, int steps, double courant)
{
    Membrane m(shape, nx, ny, courant);
    for (int k = 0; k < steps; k++)
        m.step();
    return m.energy();
}

struct Particles {
    std::vector<double> x, y, vx, vy;
};

// Particles in a field with friction, by the explicit midpoint rule.
double particles(const double *x, const double *y, const double *vx, const double *vy, int n, int steps, double dt, double friction)
{
    Particles p{{x, x + n}, {y, y + n}, {vx, vx + n}, {vy, vy + n}};
    for (int k = 0; k < steps; k++) {
#pragma omp parallel for
        for (int i = 0; i < n; i++) {
            const double ax = -std::sin(p.x[i]) - friction * p.vx[i], ay = -std::sin(p.y[i]) - friction * p.vy[i];
            const double mx = p.x[i] + 0.5 * dt * p.vx[i], my = p.y[i] + 0.5 * dt * p.vy[i];
            const double mvx = p.vx[i] + 0.5 * dt * ax, mvy = p.vy[i] + 0.5 * dt * ay;
            p.x[i] += dt * mvx;
            p.y[i] += dt * mvy;
            p.vx[i] += dt * (-std::sin(mx) - friction * mvx);
            p.vy[i] += dt * (-std::sin(my) - friction * mvy);
        }
    }
    double kinetic = 0;
#pragma omp parallel for reduction(+ : kinetic)
    for (int i = 0; i < n; i++)
        kinetic += p.vx[i] * p.vx[i] + p.vy[i] * p.vy[i];
    return 0.5 * kinetic;
}
