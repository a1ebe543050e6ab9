// Jacobi sweeps in shared memory until no thread sees a change: the block decides together when to stop.
__global__ void jacobi(const double *f, const double *coupling, double *u, int n, double tolerance) {
    __shared__ double v[66];
    int t = threadIdx.x, row = blockIdx.x * n;
    bool inside = t < n;
    if (t == 0) v[0] = v[n + 1] = 0.0;
    if (inside) v[t + 1] = u[row + t];
    __syncthreads();
    int again;
    do {
        double next = inside ? coupling[blockIdx.x] * (v[t] + v[t + 2]) + f[row + t] : 0.0;
        double change = inside ? fabs(next - v[t + 1]) : 0.0;
        again = __syncthreads_or(change > tolerance);
        if (inside) v[t + 1] = next;
        __syncthreads();
    } while (again);
    if (inside) u[row + t] = v[t + 1];
}
