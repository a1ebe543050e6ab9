// Pair forces with OpenMP: critical sections, atomics, threadprivate-free accumulation, nested calls, class members.
#include <cmath>
#include <cstdio>
#include <vector>

class System {
public:
    System(const double *x, int n, double eps) : x_(x), n_(n), eps_(eps) {}
    double pair(int i, int j) const
    {
        const double d = x_[i] - x_[j];
        return 1.0 / std::sqrt(d * d + eps_);
    }
    int size() const { return n_; }

private:
    const double *x_;
    int n_;
    double eps_;
};

double potential_atomic(const double *x, const double *q, int n, double eps)
{
    const System s(x, n, eps);
    double total = 0;
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
        double mine = 0;
        for (int j = 0; j < i; ++j)
            mine += q[i] * q[j] * s.pair(i, j);
#pragma omp atomic
        total += mine;
    }
    return total;
}

void histogram(const double *x, const double *w, double *bins, int n, int count, double width)
{
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
        const int b = (int)(x[i] / width);
        if (b < 0 || b >= count)
            continue;
#pragma omp atomic update
        bins[b] += w[i] * std::exp(-x[i]);
    }
}

double potential_private(const double *x, const double *q, int n, double eps)
{
    const System s(x, n, eps);
    std::vector<double> each(n);
    double scale = 2.0;
#pragma omp parallel for firstprivate(scale) shared(each)
    for (int i = 0; i < n; ++i) {
        double mine = 0;
        for (int j = 0; j < n; ++j)
            if (j != i)
                mine += q[i] * q[j] * s.pair(i, j);
        each[i] = mine / scale;
    }
    double total = 0;
    for (double e : each)
        total += e;
    return total;
}

int main()
{
    std::vector<double> x(50), q(50, 1.0), bins(10);
    for (int i = 0; i < 50; ++i)
        x[i] = 0.1 * i * i;
    histogram(x.data(), q.data(), bins.data(), 50, 10, 1.0);
    std::printf("%f %f %f\n", potential_atomic(x.data(), q.data(), 50, 0.1), potential_private(x.data(), q.data(), 50, 0.1),
                bins[0]);
}
