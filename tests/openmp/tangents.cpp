// Functions whose tangents are compared with finite differences.
#include <cmath>

double energy(const double *x, double *y, double stiffness, int n)
{
    double sum = 0, offset = 2.5;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; ++i) {
        y[i] = stiffness * std::sin(x[i]) + offset;
        sum += y[i] * x[i];
    }
#pragma omp parallel
    {
#pragma omp critical
        y[0] *= std::cos(x[1]);
#pragma omp barrier
#pragma omp for
        for (int i = 1; i < n; ++i)
            y[i] += y[0] * offset;
    }
    return sum;
}

float half_of(float x) { return 0.5f * std::tgamma(x); }

int count(const double *x, int n)
{
    int found = 0;
    for (int i = 0; i < n; ++i)
        found += x[i] > 0;
    return found;
}

typedef double (*Law)(double);
static double square(double x) { return x * x; }
static double cube(double x) { return x * x * x; }

double chosen(const double *x, int which)
{
    const Law laws[] = {square, cube};
    return laws[which & 1](x[0]);
}
