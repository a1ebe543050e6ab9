// Edge strength of an image on two-dimensional blocks; the border repeats.
__device__ int clamped(int v, int size) { return v < 0 ? 0 : (v >= size ? size - 1 : v); }

__global__ void edge_strength(const float *image, float *strength, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float gx = 0.0f, gy = 0.0f;
#pragma unroll
    for (int d = -1; d <= 1; ++d) {
        float weight = d == 0 ? 2.0f : 1.0f;
        int row = clamped(y + d, height) * width, column = clamped(x + d, width);
        gx += weight * (image[row + clamped(x + 1, width)] - image[row + clamped(x - 1, width)]);
        gy += weight * (image[clamped(y + 1, height) * width + column] - image[clamped(y - 1, height) * width + column]);
    }
    strength[y * width + x] = sqrtf(gx * gx + gy * gy + 1e-3f);
}
