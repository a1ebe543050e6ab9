// Functions whose second derivatives are compared with differences of gradients.
#include <cmath>
#include <vector>

double rosenbrock(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i + 1 < n; ++i)
        sum += 100 * std::pow(x[i + 1] - x[i] * x[i], 2) + (1 - x[i]) * (1 - x[i]);
    return sum;
}

// Values that are kept between loops, and functions with a derivative of adgen's own.
double chain(const double *x, double *y, double scale, int n)
{
    std::vector<double> left(n);
    for (int i = 0; i < n; ++i)
        left[i] = std::lgamma(x[i]) * scale + (i ? left[i - 1] * left[i - 1] * 0.1 : 0);
    double sum = 0;
    for (int i = n - 1; i >= 0; --i) {
        y[i] = y[i] * left[i] + std::fmax(x[i], 1.0);
        sum += y[i] * y[i];
    }
    return std::tanh(sum * 0.01);
}

double in_parallel(const double *x, int n)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; ++i)
        sum += x[i] * x[i] * x[i];
    return sum;
}

struct Walk
{
    double start, pull;
    int steps;
};

// Loops in each other, between which numbers are kept.
double walked(const Walk &by, const double *noise, int paths)
{
    double sum = 0;
    for (int path = 0; path < paths; ++path) {
        double place = by.start;
        for (int step = 0; step < by.steps; ++step)
            place += std::sin(place) * noise[path * by.steps + step] * by.pull;
        sum += place;
    }
    return sum / paths;
}

double walked_by_value(Walk walk, const double *noise, int paths)
{
    return walked(walk, noise, paths);
}
