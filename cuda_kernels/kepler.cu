// Kepler's equation E - e sin E = M by Newton's method, which ends when the data says so.
__device__ __forceinline__ double residual(double E, double e, double M) { return E - e * sin(E) - M; }

__global__ void kepler(const double *mean_anomaly, const double *eccentricity, double *eccentric_anomaly, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    double M = mean_anomaly[i], e = eccentricity[i];
    double E = M;
    double f = residual(E, e, M);
    while (fabs(f) > 1e-11) {
        E -= f / (1.0 - e * cos(E));
        f = residual(E, e, M);
    }
    eccentric_anomaly[i] = E;
}
