// Four short programs: log-sum-exp, linear least squares, an ordinary differential equation by Runge-Kutta steps, and the loss of a
// layer of long short-term memory.
#include <algorithm>
#include <cmath>
#include <vector>

double log_sum_exp(const double *x, int n)
{
    double top = x[0];
    for (int i = 1; i < n; i++)
        top = std::max(top, x[i]);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += std::exp(x[i] - top);
    return top + std::log(sum);
}

double least_squares(const double *matrix, const double *x, const double *b, int rows, int columns)
{
    double sum = 0;
    for (int i = 0; i < rows; i++) {
        double r = -b[i];
        for (int j = 0; j < columns; j++)
            r += matrix[i * columns + j] * x[j];
        sum += r * r;
    }
    return 0.5 * sum;
}

static void slope(const double *u, const double *rates, double *du, int n)
{
    for (int i = 0; i < n; i++) {
        const double left = u[(i + n - 1) % n], right = u[(i + 1) % n];
        du[i] = rates[0] * (left - 2 * u[i] + right) + u[i] * (rates[1] - rates[2] * u[i]);
    }
}

double ode(const double *start, const double *rates, int n, int steps, double step)
{
    std::vector<double> u(start, start + n), k1(n), k2(n), k3(n), k4(n), w(n);
    for (int t = 0; t < steps; t++) {
        slope(u.data(), rates, k1.data(), n);
        for (int i = 0; i < n; i++)
            w[i] = u[i] + 0.5 * step * k1[i];
        slope(w.data(), rates, k2.data(), n);
        for (int i = 0; i < n; i++)
            w[i] = u[i] + 0.5 * step * k2[i];
        slope(w.data(), rates, k3.data(), n);
        for (int i = 0; i < n; i++)
            w[i] = u[i] + step * k3[i];
        slope(w.data(), rates, k4.data(), n);
        for (int i = 0; i < n; i++)
            u[i] += step / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    }
    double sum = 0;
    for (double value : u)
        sum += value * value;
    return sum;
}

static double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// weights: for each of the four gates a weight of the input, of the state and a bias for every unit.
double lstm(const double *weights, const double *sequence, int units, int steps)
{
    std::vector<double> state(units), cell(units);
    double loss = 0;
    for (int t = 0; t + 1 < steps; t++) {
        for (int i = 0; i < units; i++) {
            double gate[4];
            for (int g = 0; g < 4; g++) {
                const double *w = weights + 3 * (size_t(g) * units + i);
                gate[g] = w[0] * sequence[size_t(t) * units + i] + w[1] * state[i] + w[2];
            }
            cell[i] = logistic(gate[0]) * cell[i] + logistic(gate[1]) * std::tanh(gate[3]);
            state[i] = logistic(gate[2]) * std::tanh(cell[i]);
        }
        double sum = 0;
        for (int i = 0; i < units; i++)
            sum += std::exp(state[i]);
        const double total = std::log(2 + sum);
        for (int i = 0; i < units; i++)
            loss -= sequence[size_t(t + 1) * units + i] * (state[i] - total);
    }
    return loss / (units * (steps - 1.0));
}
