// All-pairs potential with the bodies of a tile staged in dynamic shared memory.
__global__ void potential(const double *x, const double *y, const double *q, double *phi, int n) {
    extern __shared__ double tile[];
    double *tx = tile, *ty = tile + blockDim.x, *tq = tile + 2 * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double xi = i < n ? x[i] : 0.0, yi = i < n ? y[i] : 0.0, sum = 0.0;
    for (int first = 0; first < n; first += blockDim.x) {
        int j = first + threadIdx.x;
        tx[threadIdx.x] = j < n ? x[j] : 0.0;
        ty[threadIdx.x] = j < n ? y[j] : 0.0;
        tq[threadIdx.x] = j < n ? q[j] : 0.0;
        __syncthreads();
        for (int k = 0; k < blockDim.x; ++k) {
            double dx = tx[k] - xi, dy = ty[k] - yi;
            sum += tq[k] / sqrt(dx * dx + dy * dy + 0.01);
        }
        __syncthreads();
    }
    if (i < n) phi[i] = sum;
}
