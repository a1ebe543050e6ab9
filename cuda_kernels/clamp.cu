// Branches without an if: minima, maxima, absolute values, a conditional operator.
__global__ void tone_map(const float *light, float *screen, int n, float floor_level, float ceiling) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = fminf(fmaxf(light[i], floor_level), ceiling);
    float contrast = fabsf(light[i]) < 0.5f ? v * v : 0.5f * v;
    screen[i] = contrast + 0.1f * fabsf(light[i]) + max(0.0f, light[i] - 1.0f);
}
