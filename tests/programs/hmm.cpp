// Hidden Markov model: the forward algorithm in log space over ragged sequences; size_t indices, nested vectors, templates.
#include <cmath>
#include <cstddef>
#include <iostream>
#include <limits>
#include <vector>

template <typename Real>
Real log_sum_exp(const std::vector<Real> &v)
{
    Real top = -std::numeric_limits<Real>::infinity();
    for (Real x : v)
        if (x > top)
            top = x;
    Real sum{0};
    for (Real x : v)
        sum += std::exp(x - top);
    return top + std::log(sum);
}

template <typename Real>
Real forward(const Real *start, const Real *transition, const Real *emission, const int *symbols, std::size_t length,
             std::size_t states, std::size_t alphabet)
{
    std::vector<std::vector<Real>> alpha(length, std::vector<Real>(states));
    std::vector<Real> terms(states);
    for (std::size_t s = 0; s < states; ++s)
        alpha[0][s] = start[s] + emission[s * alphabet + symbols[0]];
    for (std::size_t t = 1; t < length; ++t)
        for (std::size_t s = 0; s < states; ++s) {
            for (std::size_t from = 0; from < states; ++from)
                terms[from] = alpha[t - 1][from] + transition[from * states + s];
            alpha[t][s] = log_sum_exp(terms) + emission[s * alphabet + symbols[t]];
        }
    return log_sum_exp(alpha.back());
}

double log_likelihood(const double *start, const double *transition, const double *emission, const int *symbols,
                      const long *offsets, long sequences, long states, long alphabet)
{
    double total = 0.0;
#pragma omp parallel for reduction(+ : total) schedule(static, 1)
    for (long i = 0; i < sequences; ++i)
        total += forward(start, transition, emission, symbols + offsets[i], offsets[i + 1] - offsets[i], states, alphabet);
    return total;
}

int main()
{
    const double start[] = {-0.7, -0.7}, transition[] = {-0.1, -2.3, -2.3, -0.1}, emission[] = {-0.5, -1, -1, -0.5};
    const int symbols[] = {0, 1, 1, 0, 1};
    const long offsets[] = {0, 3, 5};
    std::cout << log_likelihood(start, transition, emission, symbols, offsets, 2, 2, 2) << "\n";
    std::cout << forward<float>(nullptr, nullptr, nullptr, nullptr, 0, 0, 0) << "\n";
}
