// Log marginal likelihood of a Gaussian process: kernel matrix, Cholesky, triangular solves, in std::vector.
#include <cmath>
#include <iostream>
#include <stdexcept>
#include <vector>

class Matrix {
public:
    Matrix(std::size_t rows, std::size_t cols) : cols_(cols), data_(rows * cols) {}
    double &operator()(std::size_t i, std::size_t j) { return data_[i * cols_ + j]; }
    double operator()(std::size_t i, std::size_t j) const { return data_[i * cols_ + j]; }

private:
    std::size_t cols_;
    std::vector<double> data_;
};

static void cholesky(Matrix &a, std::size_t n)
{
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < j; ++k)
            for (std::size_t i = j; i < n; ++i)
                a(i, j) -= a(i, k) * a(j, k);
        if (a(j, j) <= 0.0)
            throw std::runtime_error("the kernel matrix is not positive definite");
        const double d = std::sqrt(a(j, j));
        for (std::size_t i = j; i < n; ++i)
            a(i, j) /= d;
    }
}

double log_marginal_likelihood(const double *x, const double *y, const double *hyper, int n)
{
    const double length = std::exp(hyper[0]), signal = std::exp(hyper[1]), noise = std::exp(hyper[2]);
    Matrix k(n, n);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const double d = (x[i] - x[j]) / length;
            k(i, j) = signal * std::exp(-0.5 * d * d) + (i == j ? noise : 0.0);
        }
    cholesky(k, n);
    std::vector<double> z(y, y + n);
    double value = -0.5 * n * std::log(2 * M_PI);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < i; ++j)
            z[i] -= k(i, j) * z[j];
        z[i] /= k(i, i);
        value -= 0.5 * z[i] * z[i] + std::log(k(i, i));
    }
    return value;
}

int main()
{
    std::vector<double> x, y;
    for (int i = 0; i < 20; ++i) {
        x.push_back(0.3 * i);
        y.push_back(std::sin(0.3 * i));
    }
    const double hyper[] = {0.0, 0.0, -4.0};
    std::cout << log_marginal_likelihood(x.data(), y.data(), hyper, 20) << '\n';
}
