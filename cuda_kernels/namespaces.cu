// Kernels in a namespace and static ones, as headers of larger projects have them.
namespace physics {
namespace detail {
__device__ inline double square(double v) { return v * v; }
}  // namespace detail

__global__ void lennard_jones(const double *distance, double *energy, int n, double depth) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double s6 = 1.0 / (detail::square(distance[i]) * detail::square(distance[i]) * detail::square(distance[i]));
    energy[i] = 4.0 * depth * (s6 * s6 - s6);
}
}  // namespace physics

static __global__ void morse(const double *distance, double *energy, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double e = 1.0 - exp(-1.3 * (distance[i] - 1.0));
    energy[i] = e * e;
}

void use(const double *d, double *e, int n) { morse<<<1, 64>>>(d, e, n); }
