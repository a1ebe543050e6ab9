// Power iteration, a row of a matrix a lane: in each round the lanes rotate the vector past each other and add up its norm.
__global__ void power(const float *matrix, float *vector, int rounds) {
    int lane = threadIdx.x, warp = blockIdx.x;
    float v = vector[warp * 32 + lane];
    for (int r = 0; r < rounds; ++r) {
        float sum = 0.f;
        for (int k = 0; k < 32; ++k)
            sum += matrix[(warp * 32 + lane) * 32 + (lane + k) % 32] * __shfl_sync(0xffffffff, v, lane + k);
        float norm = sum * sum;
        for (int offset = 16; offset > 0; offset /= 2)
            norm += __shfl_xor_sync(0xffffffff, norm, offset);
        v = sum * rsqrtf(norm);
    }
    vector[warp * 32 + lane] = v;
}
