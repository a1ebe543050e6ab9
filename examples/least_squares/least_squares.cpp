// Sum of squared residuals of a damped oscillation a exp(-k t) cos(w t + p) + c against measurements.
//
//   g++ -O2 -fopenmp least_squares.cpp -o least_squares && ./least_squares
#include <cmath>
#include <cstdio>
#include <vector>

static double model(double t, const double *params) {
    double amplitude = params[0], decay = params[1], frequency = params[2], phase = params[3], offset = params[4];
    return amplitude * std::exp(-decay * t) * std::cos(frequency * t + phase) + offset;
}

double loss(const double *x, const double *y, const double *params, int n) {
    double sum = 0.0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++) {
        double residual = model(x[i], params) - y[i];
        sum += residual * residual;
    }
    return sum;
}

int main() {
    const int n = 100000;
    const double truth[] = {2.0, 0.3, 5.0, 0.4, 0.5};
    std::vector<double> x(n), y(n);
    for (int i = 0; i < n; i++) {
        x[i] = 10.0 * i / n;
        y[i] = model(x[i], truth);
    }
    for (double frequency = 4.8; frequency < 5.25; frequency += 0.1) {
        const double guess[] = {2.0, 0.3, frequency, 0.4, 0.5};
        std::printf("frequency %.1f: mean squared residual %.6f\n", frequency, loss(x.data(), y.data(), guess, n) / n);
    }
}
