// Shuffles whose source differs from lane to lane, and a barrier that counts.
__global__ void warp_rotate(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    float v = i < n ? x[i] : 0.f;
    float rotated = __shfl_sync(0xffffffff, v * v, (lane * 7 + 3) & 31);
    float before = __shfl_up_sync(0xffffffff, v, 3, 16);
    float after = __shfl_down_sync(0xffffffff, 2.f * v, lane & 3, 8);
    int above = __syncthreads_count(v > 0.f);
    if (i < n) y[i] = rotated * before + after * after + 0.1f * above;
}
