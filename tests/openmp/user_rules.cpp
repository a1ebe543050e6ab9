// The same on the host.
#include <cmath>

static double level(double x) { return std::floor(x) + 0.25 * x; }

static double steep(double x) { return x * x; }

void twice_the_gradient_of_steep(double x, double cotangent, double *d_x) { *d_x = 2.0 * (2.0 * x * cotangent); }

double total(const double *x, int n)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; ++i)
        sum += steep(x[i]) + level(x[i]) * x[i];
    return sum;
}
