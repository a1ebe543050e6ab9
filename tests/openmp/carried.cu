// Loops that carry a number on by a choice or a division, and use it in each iteration.
struct Quote {
    double at, price;
};

__global__ void running_maximum(const double *x, double *out, int n, int steps)
{
    const int i = threadIdx.x;
    if (i >= n)
        return;
    double best = x[i * steps];
    for (int s = 0; s < steps; ++s) {
        const double v = x[i * steps + s];
        if (v > best)
            best = v;
        out[i * steps + s] = best;
    }
}

__global__ void repeated_division(const double *x, double *out, int n, int steps)
{
    const int i = threadIdx.x;
    if (i >= n)
        return;
    double left = x[i * steps];
    for (int s = 0; s < steps; ++s) {
        left /= 1.5 + x[i * steps + s];
        out[i * steps + s] = left;
    }
}

__global__ void chosen_record(const double *x, double *out, int n, int steps)
{
    const int i = threadIdx.x;
    if (i >= n)
        return;
    Quote best = {0.0, 1e9}, before = {0.5, 0.0};
    for (int s = 0; s < steps; ++s) {
        const Quote quote = {x[i * steps + s] * s, x[i * steps + s]};
        best = quote.price < best.price ? quote : best;
        out[i * steps + s] = best.at * best.price + before.price;
        before = best;
    }
}

__global__ void drawdown(const double *x, double *out, int n, int steps)
{
    const int i = threadIdx.x;
    if (i >= n)
        return;
    double peak = x[i * steps], sum = 0.0;
    for (int s = 0; s < steps; ++s) {
        const double v = x[i * steps + s];
        peak = v > peak ? v : peak;
        sum += (peak - v) / peak;
    }
    out[i * steps] = sum;
}

__global__ void kept_without_a_value(const double *x, double *out, int n, int steps)
{
    const int i = threadIdx.x;
    if (i >= n)
        return;
    double kept, sum = 0.0;
    for (int s = 0; s < steps; ++s) {
        if (i % 2 == 1)
            kept = x[i * steps + s] * x[i * steps];
        sum += i % 2 == 0 ? x[i * steps + s] : x[i * steps + s] * kept;
    }
    out[i * steps] = sum;
}
