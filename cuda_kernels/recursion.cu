// Legendre polynomials by their recurrence, written as a recursive device function.
__device__ double legendre(int order, double x) {
    if (order == 0) return 1.0;
    if (order == 1) return x;
    return ((2 * order - 1) * x * legendre(order - 1, x) - (order - 1) * legendre(order - 2, x)) / order;
}

__global__ void expand(const double *x, const double *coefficient, double *y, int n, int orders) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double sum = 0.0;
    for (int l = 0; l < orders; ++l) sum += coefficient[l] * legendre(l, x[i]);
    y[i] = sum;
}
