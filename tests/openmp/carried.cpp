// Loops that carry a number on by a choice or a division, and use it in each iteration.
void running_maximum(const double *x, double *out, int n, int steps)
{
    for (int i = 0; i < n; ++i) {
        double best = x[i * steps];
        for (int s = 0; s < steps; ++s) {
            const double v = x[i * steps + s];
            best = v > best ? v : best;
            out[i * steps + s] = best;
        }
    }
}

void repeated_division(const double *x, double *out, int n, int steps)
{
    for (int i = 0; i < n; ++i) {
        double left = x[i * steps];
        for (int s = 0; s < steps; ++s) {
            left /= 1.5 + x[i * steps + s];
            out[i * steps + s] = left;
        }
    }
}

void drawdown(const double *x, double *out, int n, int steps)
{
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
        double peak = x[i * steps], sum = 0.0;
        for (int s = 0; s < steps; ++s) {
            const double v = x[i * steps + s];
            peak = v > peak ? v : peak;
            sum += (peak - v) / peak;
        }
        out[i * steps] = sum;
    }
}
