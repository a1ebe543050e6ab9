// De Casteljau's algorithm: a small array of the thread's own, overwritten round after round.
constexpr int kPoints = 6;

__global__ void bezier(const double *control, const double *t, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double b[kPoints];
    for (int k = 0; k < kPoints; ++k) b[k] = control[k] * (1.0 + 0.1 * t[i]);
    for (int round = kPoints - 1; round > 0; --round)
        for (int k = 0; k < round; ++k) b[k] = b[k] * (1.0 - t[i]) + b[k + 1] * t[i];
    out[i] = b[0];
}
