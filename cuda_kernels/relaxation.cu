// Every thread relaxes a chain of its own in global memory until it moves no more: how often follows from what it writes itself.
__global__ void relax(const double *pull, const double *stiffness, double *chain, int n, double tolerance) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * n;
    double moved;
    do {
        moved = 0.0;
        for (int i = 1; i < n - 1; ++i) {
            double before = chain[first + i];
            double rest = 0.5 * (chain[first + i - 1] + chain[first + i + 1]);
            chain[first + i] = (rest + pull[first + i]) / (1.0 + stiffness[i] * before * before);
            moved = fmax(moved, fabs(chain[first + i] - before));
        }
    } while (moved > tolerance);
}
