// The log-likelihood of a mixture of Gaussians whose inverse covariances are given by factors, with a Wishart prior. A factor is a
// lower triangle: the logarithms of its diagonal in `diagonal`, the rest column by column in `below`.
#include <algorithm>
#include <cmath>
#include <vector>

static double log_sum_exp(const double *v, int n)
{
    const double top = *std::max_element(v, v + n);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += std::exp(v[i] - top);
    return top + std::log(sum);
}

// Fills what the factors say of each component, and gives the logarithm of the prior.
static double prepare(const double *diagonal, const double *below, int d, int k, double prior, double *scale,
                      double *trace)
{
    const int triangle = d * (d - 1) / 2;
    double penalty = 0;
    for (int c = 0; c < k; c++) {
        double squares = 0;
        for (int i = 0; i < d; i++) {
            scale[size_t(c) * d + i] = std::exp(diagonal[size_t(c) * d + i]);
            squares += scale[size_t(c) * d + i] * scale[size_t(c) * d + i];
            trace[c] += diagonal[size_t(c) * d + i];
        }
        for (int i = 0; i < triangle; i++)
            squares += below[size_t(c) * triangle + i] * below[size_t(c) * triangle + i];
        penalty += 0.5 * prior * prior * squares - trace[c];
    }
    return penalty;
}

double mixture(const double *alphas, const double *means, const double *diagonal, const double *below, const double *x,
               int d, int k, int n, double prior)
{
    const int triangle = d * (d - 1) / 2;
    std::vector<double> scale(size_t(k) * d), trace(k);
    const double penalty = prepare(diagonal, below, d, k, prior, scale.data(), trace.data());
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++) {
        std::vector<double> terms(k), centred(d), mapped(d);
        for (int c = 0; c < k; c++) {
            for (int j = 0; j < d; j++)
                centred[j] = x[size_t(i) * d + j] - means[size_t(c) * d + j];
            for (int j = 0; j < d; j++)
                mapped[j] = scale[size_t(c) * d + j] * centred[j];
            const double *column = below + size_t(c) * triangle;
            for (int j = 0; j < d; j++) {
                for (int r = j + 1; r < d; r++)
                    mapped[r] += column[r - j - 1] * centred[j];
                column += d - j - 1;
            }
            double squares = 0;
            for (int j = 0; j < d; j++)
                squares += mapped[j] * mapped[j];
            terms[c] = alphas[c] + trace[c] - 0.5 * squares;
        }
        sum += log_sum_exp(terms.data(), k);
    }
    return sum - n * log_sum_exp(alphas, k) + penalty;
}

// The same on one thread. All observations use the same vectors, which each fills first.
double mixture_in_turn(const double *alphas, const double *means, const double *diagonal, const double *below,
                       const double *x, int d, int k, int n, double prior)
{
    std::vector<double> scale(size_t(k) * d), trace(k), terms(k), centred(d), mapped(d);
    const double penalty = prepare(diagonal, below, d, k, prior, scale.data(), trace.data());
    double sum = 0;
    for (int i = 0; i < n; i++) {
        for (int c = 0; c < k; c++) {
            for (int j = 0; j < d; j++)
                centred[j] = x[i * d + j] - means[c * d + j];
            for (int j = 0; j < d; j++)
                mapped[j] = scale[c * d + j] * centred[j];
            int place = c * (d * (d - 1) / 2);
            for (int j = 0; j < d; j++)
                for (int r = j + 1; r < d; r++)
                    mapped[r] += below[place++] * centred[j];
            double squares = 0;
            for (int j = 0; j < d; j++)
                squares += mapped[j] * mapped[j];
            terms[c] = alphas[c] + trace[c] - 0.5 * squares;
        }
        sum += log_sum_exp(terms.data(), k);
    }
    return sum - n * log_sum_exp(alphas, k) + penalty;
}
