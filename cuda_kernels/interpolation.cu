// Bilinear lookup in a table: the index comes from a float.
__device__ inline float lerp(float a, float b, float t) { return a + t * (b - a); }

__global__ void lookup(const float *table, int width, int height, const float *u, const float *v, float *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = u[i] * (width - 1), y = v[i] * (height - 1);
    const int x0 = min((int)x, width - 2), y0 = min((int)y, height - 2);
    const float *corner = table + y0 * width + x0;
    const float below = lerp(corner[0], corner[1], x - x0);
    const float above = lerp(corner[width], corner[width + 1], x - x0);
    out[i] = lerp(below, above, y - y0);
}
