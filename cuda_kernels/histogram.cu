// Cloud-in-cell deposit: each particle's weight is shared by its two nearest bins.
__global__ void deposit(const float *__restrict__ position, const float *__restrict__ weight, float *density, int particles,
                        int bins) {
    int p = blockDim.x * blockIdx.x + threadIdx.x;
    if (p >= particles) return;
    float scaled = position[p] * (bins - 1);
    int left = (int)floorf(scaled);
    left = left < 0 ? 0 : (left > bins - 2 ? bins - 2 : left);
    float fraction = scaled - left;
    atomicAdd(density + left, (1.0f - fraction) * weight[p]);
    atomicAdd(density + left + 1, fraction * weight[p]);
}
