// Ridge regression and logistic loss with OpenMP reductions.
#include <cmath>
#include <cstdio>
#include <vector>

struct Problem {
    int rows;
    int columns;
    double ridge;
};

static inline double dot(const double *a, const double *b, int n)
{
    double s = 0;
    for (int i = 0; i < n; ++i)
        s += a[i] * b[i];
    return s;
}

double ridge_loss(const double *x, const double *y, const double *w, const Problem &p)
{
    double loss = 0.0;
#pragma omp parallel for reduction(+ : loss) schedule(static)
    for (int i = 0; i < p.rows; ++i) {
        const double r = dot(x + i * p.columns, w, p.columns) - y[i];
        loss += r * r;
    }
    return loss / p.rows + p.ridge * dot(w, w, p.columns);
}

double logistic_loss(const double *x, const int *label, const double *w, Problem p)
{
    double loss = 0.0, norm = 0.0;
#pragma omp parallel
    {
#pragma omp for reduction(+ : loss)
        for (int i = 0; i < p.rows; i++) {
            const double margin = (label[i] ? 1 : -1) * dot(x + i * p.columns, w, p.columns);
            loss += margin > 0 ? std::log1p(std::exp(-margin)) : -margin + std::log1p(std::exp(margin));
        }
    }
    for (int j = 0; j < p.columns; j++)
        norm += w[j] * w[j];
    return loss / p.rows + 0.5 * p.ridge * norm;
}

// two sums in one pass
double elastic_net(const double *x, const double *y, const double *w, int rows, int columns, double share)
{
    double squares = 0.0, absolute = 0.0;
#pragma omp parallel for reduction(+ : squares, absolute)
    for (int i = 0; i < rows; ++i) {
        const double r = dot(x + i * columns, w, columns) - y[i];
        squares += r * r;
        absolute += std::sqrt(r * r + 1e-4);
    }
    return (share * squares + (1 - share) * absolute) / rows;
}

// rows of different cost
double ragged_loss(const double *x, const int *lengths, const double *w, int rows, int columns)
{
    double loss = 0.0;
#pragma omp parallel for schedule(dynamic) reduction(+ : loss)
    for (int i = 0; i < rows; ++i)
        loss += std::exp(-dot(x + i * columns, w, lengths[i]));
    return loss;
}

int main()
{
    const Problem p{100, 3, 0.1};
    std::vector<double> x(300), y(100), w(3, 0.5);
    std::vector<int> label(100);
    for (int i = 0; i < 300; ++i)
        x[i] = std::sin(i);
    for (int i = 0; i < 100; ++i)
        y[i] = 2 * x[3 * i], label[i] = i % 2;
    std::printf("%f %f\n", ridge_loss(x.data(), y.data(), w.data(), p), logistic_loss(x.data(), label.data(), w.data(), p));
}
