// Prefix products in double within each warp, then a broadcast and an exchange in groups of eight.
#define FULL 0xffffffffu

__global__ void warp_scan(const double* x, double* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    double v = i < n ? 1.0 + 0.1 * sin(x[i]) : 1.0;
    for (int d = 1; d < 32; d *= 2)
    {
        double left = __shfl_up_sync(FULL, v, d);
        if (lane >= d) v *= left;
    }
    double fifth = __shfl_sync(FULL, v, 5);
    double partner = __shfl_xor_sync(FULL, v, 3, 8);
    unsigned positive = __ballot_sync(FULL, v > 0.0);
    if (i < n) out[i] = v * fifth + partner * __popc(positive);
}
