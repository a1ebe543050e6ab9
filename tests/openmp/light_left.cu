// What is left of a ray's light, which stops once little is left: the factors that an iteration has multiplied with are
// divided out again in the reverse sweep. Rays take a thread's turn one after another.

__global__ void light(const double *__restrict__ x, const double *__restrict__ density, double *__restrict__ seen, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        double alpha, left = 1, sum = 0;
        int k = 0;
        for (; k < n; ++k) {
            alpha = 0.5 + 0.4 * tanh(density[k] + x[i]);
            if (alpha < 0.35)
                continue;
            double next = left * (1 - alpha);
            sum += alpha * left * x[k];
            if (next < 1e-2)
                break;
            left = next;
        }
        seen[i] = sum;
    }
}
