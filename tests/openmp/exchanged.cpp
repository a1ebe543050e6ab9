// Arrays that change places from step to step, in many ways.
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

static void step(const double *from, double *to, int n, double k)
{
#pragma omp parallel for
    for (int i = 1; i < n - 1; ++i)
        to[i] = from[i] + k * from[i] * (from[i - 1] - 2 * from[i] + from[i + 1]);
}

void swapped(double *u, double *v, int n, int steps, double k)
{
    for (int s = 0; s < steps; ++s) {
        step(u, v, n, k);
        std::swap(u, v);
    }
}

// Only sometimes.
void sometimes(double *u, double *v, int n, int steps, double k)
{
    for (int s = 0; s < steps; ++s) {
        step(u, v, n, k);
        if (s % 3 != 1)
            std::swap(u, v);
    }
}

// Three that go round, with edges that are set by one thread.
double round(const double *start, int n, int steps, double k)
{
    std::vector<double> before(start, start + n), now(start, start + n), next(n);
    for (int s = 0; s < steps; ++s) {
#pragma omp parallel for
        for (int i = 1; i < n - 1; ++i)
            next[i] = 2 * now[i] - before[i] + k * now[i] * now[i] * (now[i - 1] - 2 * now[i] + now[i + 1]);
        next[0] = next[1] * before[1];
        next[n - 1] = now[n - 2];
        before.swap(now);
        now.swap(next);
    }
    double sum = 0;
    for (int i = 0; i < n; ++i)
        sum += now[i] * before[i];
    return sum;
}

// One array is read and written by the same region.
void inside(double *u, double *v, int n, int steps, double k)
{
    for (int s = 0; s < steps; ++s) {
#pragma omp parallel for
        for (int i = 1; i < n - 1; ++i) {
            v[i] += u[i] * v[i] * k;
            v[i] = std::sin(v[i]) * u[i - 1] * u[i + 1];
        }
        std::swap(u, v);
    }
}

// New arrays in each step, and one that is cleared.
double fresh(const double *start, int n, int steps, double k)
{
    std::vector<double> u(start, start + n), sum(n);
    for (int s = 0; s < steps; ++s) {
        std::vector<double> a(n), b(n, 0.5);
        step(u.data(), a.data(), n, k);
#pragma omp parallel for
        for (int i = 1; i < n - 1; ++i)
            b[i] = a[i] * u[i] * a[i];
        std::fill(sum.begin(), sum.end(), 0.0);
#pragma omp parallel for
        for (int i = 1; i < n - 1; ++i)
            sum[i] = b[i] * b[i - 1] + a[i] * a[i];
#pragma omp parallel for
        for (int i = 1; i < n - 1; ++i)
            u[i] = u[i] * 0.5 + 0.1 * sum[i] * sum[i - 1] * b[i + 1];
    }
    double total = 0;
    for (double x : u)
        total += x * x;
    return total;
}

// Two buffers, by the number of the step, and in an object on the heap.
struct Buffers {
    std::vector<double> of[2];
    int now = 0;
};

double buffers(const double *start, int n, int steps, double k)
{
    auto b = std::make_unique<Buffers>();
    for (auto &each : b->of)
        each.assign(start, start + n);
    for (int s = 0; s < steps; ++s) {
        step(b->of[b->now].data(), b->of[1 - b->now].data(), n, k);
        b->now = 1 - b->now;
    }
    double total = 0;
    for (double x : b->of[b->now])
        total += x * x * x;
    return total;
}

// Exchanged in an inner loop, put in order after it, and left early.
void nested(double *u, double *v, double *w, int n, int steps, double k)
{
    for (int s = 0; s < steps; ++s) {
        for (int r = 0; r < 2; ++r) {
            step(u, w, n, k * (r + 1));
            std::swap(u, w);
            if (u[n / 2] > 1e3)
                return;
        }
        step(u, v, n, k);
#pragma omp parallel for
        for (int i = 1; i < n - 1; ++i)
            w[i] = v[i] * v[i - 1] * u[i + 1];
        std::swap(v, w);
    }
}

// The same array may be both: one that is read where it is written.
void either(double *u, double *v, int n, int steps, double k)
{
    double *from = u, *to = v;
    for (int s = 0; s < steps; ++s) {
        if (s % 2)
            from = to;
        else
            from = u;
#pragma omp parallel for
        for (int i = 1; i < n - 1; ++i)
            to[i] = from[i] * from[i] * k + to[i];
    }
}

// A copy takes the place of an exchange.
void copied(double *u, double *v, int n, int steps, double k)
{
    std::vector<double> old(n);
    for (int s = 0; s < steps; ++s) {
        std::copy(u, u + n, old.begin());
        step(old.data(), u, n, k);
#pragma omp parallel for
        for (int i = 1; i < n - 1; ++i)
            v[i] += old[i] * old[i + 1] * u[i - 1];
    }
}
