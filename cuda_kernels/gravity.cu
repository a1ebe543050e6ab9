// Accelerations of bodies, all pairs, coordinates in separate arrays.
__global__ void accelerations(const float *x, const float *y, const float *z, const float *m, float *ax, float *ay,
                              float *az, int n, float eps2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sx = 0.f, sy = 0.f, sz = 0.f;
    for (int j = 0; j < n; j++) {
        float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
        float inv = rsqrtf(dx * dx + dy * dy + dz * dz + eps2);
        float s = m[j] * inv * inv * inv;
        sx += s * dx;
        sy += s * dy;
        sz += s * dz;
    }
    ax[i] = sx, ay[i] = sy, az[i] = sz;
}
