// Loops that carry values from step to step, of the forms that are done in segments and of some that are not.
__global__ void two_values(const double *x, double *out, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double position = x[i], speed = 0.1;
    for (int step = 0; step < steps; ++step) {
        speed -= 0.1 * sin(position) * (1.0 + 0.01 * step);
        position += 0.1 * speed;
    }
    out[i] = position * speed;
}

__global__ void downwards(const double *x, double *out, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double value = x[i];
    for (long step = steps; step > 0; step -= 3) value = 2.5 * value * (1.0 - value);
    out[i] = value;
}

__global__ void inside(const double *x, double *out, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double value = x[i], sum = 0.0;
    for (int round = 0; round < 3; ++round) {
        for (unsigned step = 0; step < (unsigned)(steps + round); ++step) value = 2.5 * value * (1.0 - value);
        sum += value * value;
    }
    out[i] = sum;
}

__global__ void with_inputs(const double *x, double *out, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double value = 0.5;
    for (int step = 0; step < steps; ++step) value = value * value * x[(i + step) % n] + 0.3;
    out[i] = value;
}

__global__ void all_states(const double *x, double *out, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double value = x[i];
    for (int step = 0; step < steps; ++step) {
        value = 2.5 * value * (1.0 - value);
        out[step * n + i] = value;
    }
}

__global__ void until_small(const double *x, double *out, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double value = x[i];
    for (int step = 0; step < steps; ++step) {
        value = value * (1.0 - 0.1 * value);
        if (value < 0.2) break;
    }
    out[i] = value;
}
