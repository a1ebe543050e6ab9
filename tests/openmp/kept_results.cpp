// Loops whose reverse sweep needs again what mathematics has given.
#include <cmath>
#include <vector>

double partition(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += std::exp(-x[i]);
    return std::log(sum);
}

// n changes from row to row, and some rows are empty.
double rows(const float *x, const int *begin, int count)
{
    double loss = 0;
    for (int r = 0; r < count; r++) {
        float sum = 1;
        for (int i = begin[r]; i < begin[r + 1]; i++)
            sum += std::exp(x[i] * x[i]);
        loss += std::log(sum);
    }
    return loss;
}

// Each row is reversed right after it was computed, and some of them are skipped.
void batches(const double *x, double *losses, int count, int n)
{
#pragma omp parallel for
    for (int r = 0; r < count; r++) {
        std::vector<double> y(n);
        for (int i = 0; i < n; i++)
            y[i] = x[r * n + i] * x[r * n];
        double sum = 0;
        if (x[r * n] > 0)
            for (int i = 0; i < n; i++)
                sum += std::exp(x[r * n + i] - y[0]) * y[i];
        losses[r] = sum * sum;
    }
}

// What the exponential is of is overwritten.
double decay(double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        const double y = std::exp(x[i] * x[i]);
        sum += y * y;
        x[i] = 0.5 * y;
    }
    return sum * sum;
}

double powers(const double *x, const double *y, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += std::pow(x[i], y[n - 1 - i]);
    return sum * sum;
}

// The exponential of some elements only.
double some(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        if (x[i] > 0)
            sum += std::exp(x[i]);
    return sum * sum;
}

// Only the iterations that turn ask for the sine and the cosine, the others for an exponential.
void turned(const double *angles, const double *points, double *y, int n)
{
    for (int i = 0; i < n; i++) {
        double x = points[2 * i], z = points[2 * i + 1];
        if (angles[i] > 0) {
            const double angle = std::sqrt(angles[i]), c = std::cos(angle), s = std::sin(angle);
            y[2 * i] = c * x - s * z;
            y[2 * i + 1] = s * x + c * z;
        } else {
            y[2 * i] = std::exp(angles[i]) * x;
            y[2 * i + 1] = z;
        }
    }
}
