// Several ways out of a kernel: masked cells, dry cells, and the rest.
__global__ void flow_speed(const double *depth, const double *slope, const int *mask, double *speed, int cells) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cells) return;
    if (!mask[c]) {
        speed[c] = 0.0;
        return;
    }
    const double h = depth[c];
    if (h < 0.05) {
        speed[c] = h * slope[c];
        return;
    }
    speed[c] = pow(h, 2.0 / 3.0) * sqrt(slope[c]) / 0.03;
}
