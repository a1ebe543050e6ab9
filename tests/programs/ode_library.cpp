// A small library of integrators used with several models: fixed-step Runge-Kutta tableaus, an adaptive embedded pair,
// symplectic splitting, events. Models are callables; states are std::array.
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

template <std::size_t N>
using State = std::array<double, N>;

template <std::size_t N>
State<N> operator+(State<N> a, const State<N> &b)
{
    for (std::size_t i = 0; i < N; ++i) a[i] += b[i];
    return a;
}
template <std::size_t N>
State<N> operator*(double s, State<N> a)
{
    for (auto &v : a) v *= s;
    return a;
}

template <int Stages>
struct Tableau {
    double a[Stages][Stages];
    double b[Stages], error[Stages], c[Stages];
};

constexpr Tableau<4> bogacki_shampine = {
    {{0}, {0.5}, {0, 0.75}, {2.0 / 9, 1.0 / 3, 4.0 / 9}},
    {2.0 / 9, 1.0 / 3, 4.0 / 9, 0},
    {2.0 / 9 - 7.0 / 24, 1.0 / 3 - 1.0 / 4, 4.0 / 9 - 1.0 / 3, -1.0 / 8},
    {0, 0.5, 0.75, 1}};

constexpr Tableau<4> classic = {
    {{0}, {0.5}, {0, 0.5}, {0, 0, 1}}, {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}, {0, 0, 0, 0}, {0, 0.5, 0.5, 1}};

template <int Stages, std::size_t N, typename Model>
State<N> step(const Tableau<Stages> &t, const Model &f, double time, const State<N> &y, double h, double *error = nullptr)
{
    State<N> k[Stages];
    for (int s = 0; s < Stages; ++s) {
        State<N> at = y;
        for (int r = 0; r < s; ++r)
            if (t.a[s][r] != 0) at = at + (h * t.a[s][r]) * k[r];
        k[s] = f(time + t.c[s] * h, at);
    }
    State<N> next = y, difference{};
    for (int s = 0; s < Stages; ++s) {
        next = next + (h * t.b[s]) * k[s];
        difference = difference + (h * t.error[s]) * k[s];
    }
    if (error) {
        double worst = 0;
        for (std::size_t i = 0; i < N; ++i) worst = std::fmax(worst, std::fabs(difference[i]) / (1e-6 + std::fabs(next[i])));
        *error = worst;
    }
    return next;
}

// steps follow the error; what the step size is does not matter to the result beyond the tolerance
template <std::size_t N, typename Model>
State<N> adaptive(const Model &f, State<N> y, double from, double to, double tolerance, int *taken)
{
    double time = from, h = 0.01 * (to - from);
    int count = 0;
    while (time < to && count < 10000) {
        if (time + h > to) h = to - time;
        double error;
        const State<N> next = step(bogacki_shampine, f, time, y, h, &error);
        if (error <= tolerance) {
            time += h;
            y = next;
        }
        h *= std::fmin(2.0, std::fmax(0.2, 0.9 * std::cbrt(tolerance / (error + 1e-300))));
        ++count;
    }
    *taken = count;
    return y;
}

struct VanDerPol {
    double mu;
    State<2> operator()(double, const State<2> &y) const { return {y[1], mu * (1 - y[0] * y[0]) * y[1] - y[0]}; }
};

// glucose and insulin with meals
class Metabolism {
public:
    Metabolism(const double *rates, const std::vector<std::pair<double, double>> &meals) : k_(rates), meals_(meals) {}
    State<3> operator()(double t, const State<3> &y) const
    {
        double intake = 0;
        for (const auto &[when, size] : meals_) {
            const double d = (t - when) / 0.5;
            intake += size * std::exp(-d * d);
        }
        return {-k_[0] * (y[0] - 1.0) - y[2] * y[0] + intake, k_[1] * std::fmax(y[0] - 1.2, 0.0) - k_[2] * y[1],
                -k_[3] * y[2] + k_[4] * y[1]};
    }

private:
    const double *k_;
    const std::vector<std::pair<double, double>> &meals_;
};

double oscillator_energy(const double *start, double mu, double duration, int steps)
{
    State<2> y = {start[0], start[1]};
    const VanDerPol model{mu};
    const double h = duration / steps;
    for (int i = 0; i < steps; ++i) y = step(classic, model, i * h, y, h);
    return 0.5 * (y[0] * y[0] + y[1] * y[1]);
}

double glucose_misfit(const double *rates, const double *start, const double *measured, int n, double interval)
{
    const std::vector<std::pair<double, double>> meals = {{0.5, 1.0}, {2.0, 0.7}};
    const Metabolism model(rates, meals);
    State<3> y = {start[0], start[1], start[2]};
    double misfit = 0;
    for (int i = 0; i < n; ++i) {
        for (int s = 0; s < 4; ++s) y = step(classic, model, interval * (i + 0.25 * s), y, 0.25 * interval);
        misfit += (y[0] - measured[i]) * (y[0] - measured[i]);
    }
    return misfit;
}

void pendulum_end(const double *start, const double *lengths, double *end, int *taken, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
        const double length = lengths[i];
        auto f = [length](double t, const State<2> &y) -> State<2> {
            return {y[1], -9.81 / length * std::sin(y[0]) - 0.1 * y[1] + 0.2 * std::cos(t)};
        };
        const State<2> y = adaptive(f, State<2>{start[2 * i], start[2 * i + 1]}, 0.0, 1.0, 1e-9, &taken[i]);
        end[2 * i] = y[0];
        end[2 * i + 1] = y[1];
    }
}

// Stoermer-Verlet for the planets; positions and velocities interleaved, masses separate
void orbit(double *state, const double *mass, double *energy, int bodies, int steps, double h)
{
    std::vector<double> force(2 * bodies);
    auto accelerate = [&] {
        std::fill(force.begin(), force.end(), 0.0);
        double potential = 0;
        for (int i = 0; i < bodies; ++i)
            for (int j = 0; j < i; ++j) {
                const double dx = state[4 * j] - state[4 * i], dy = state[4 * j + 1] - state[4 * i + 1];
                const double r2 = dx * dx + dy * dy + 1e-4, r = std::sqrt(r2), g = 1.0 / (r2 * r);
                force[2 * i] += mass[j] * g * dx;
                force[2 * i + 1] += mass[j] * g * dy;
                force[2 * j] -= mass[i] * g * dx;
                force[2 * j + 1] -= mass[i] * g * dy;
                potential -= mass[i] * mass[j] / r;
            }
        return potential;
    };
    double potential = accelerate();
    for (int s = 0; s < steps; ++s) {
        for (int i = 0; i < bodies; ++i)
            for (int d = 0; d < 2; ++d) {
                state[4 * i + 2 + d] += 0.5 * h * force[2 * i + d];
                state[4 * i + d] += h * state[4 * i + 2 + d];
            }
        potential = accelerate();
        for (int i = 0; i < bodies; ++i)
            for (int d = 0; d < 2; ++d) state[4 * i + 2 + d] += 0.5 * h * force[2 * i + d];
    }
    double kinetic = 0;
    for (int i = 0; i < bodies; ++i)
        kinetic += 0.5 * mass[i] * (state[4 * i + 2] * state[4 * i + 2] + state[4 * i + 3] * state[4 * i + 3]);
    *energy = kinetic + potential;
}

int main()
{
    const double start[] = {1.0, 0.0};
    std::printf("%f\n", oscillator_energy(start, 1.5, 2.0, 100));
    return 0;
}
