// Kernels that are launched many times from Python.
__global__ void diffuse(const double *u, const double *k, double *v, int n, double dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 1 || i >= n - 1) return; // the ends of v stay as they are
    v[i] = u[i] + dt * k[i] * (u[i - 1] - 2 * u[i] + u[i + 1]) + 0.1 * dt * u[i] * u[i];
}

__global__ void squash(double *x, const double *bias, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = sin(x[i] + bias[i]) * x[i];
}

__global__ void spread(const double *x, double *force, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&force[(i * 7) % n], x[i] * x[i]);
}

__global__ void push(double *x, const double *force, int n, double dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += dt * force[i];
}

__global__ void shift(int *places, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) places[i] = (places[i] + 1) % n;
}

__global__ void pick(const double *x, const int *places, double *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = y[i] * x[places[i]];
}

struct Field {
    double *value;
    const double *rate;
    double dt;
    int n;
};

__global__ void grow(Field field, const double *input) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < field.n) field.value[i] += field.dt * field.rate[i] * field.value[i] * input[i];
}
