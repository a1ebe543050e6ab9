// What is fitted to data: one number that the iterations of a parallel loop have in common.
#include <cmath>

void decay(const double *x, double *y, int n, double rate)
{
#pragma omp parallel for
    for (int i = 0; i < n; ++i)
        y[i] = std::exp(-rate * x[i]);
}

double spring(const double *x, int n, double stiffness)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n - 1; ++i)
        sum += 0.5 * stiffness * (x[i + 1] - x[i]) * (x[i + 1] - x[i]);
    return sum;
}
