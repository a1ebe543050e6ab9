// A sum of exponentials, and the logarithm of one by threads: gradients compute exponentials in place.
#include <algorithm>
#include <cmath>
#include <vector>

double total(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += std::exp(x[i]);
    return sum;
}

double log_sum(const double *x, int n)
{
    const double top = *std::max_element(x, x + n);
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += std::exp(x[i] - top);
    return top + std::log(sum);
}
