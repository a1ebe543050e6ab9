// Two kernels that read one variable, of which Enzyme makes gradients only one after the other.
struct Grid {
    int nx;
    float width, spacing;
};
__constant__ Grid grid;

__global__ void sampled(const float *x, float *y, float step)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= grid.nx) return;
    float sum = 0;
    for (float t = 0; t < grid.width; t += step) {
        const int at = (int)(t / grid.spacing);
        if (at < grid.nx) sum += x[at] * t * grid.spacing;
    }
    y[i] = sum * x[i];
}

__global__ void attracted(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= grid.nx) return;
    float sum = 0;
    for (int k = 0; k < n; ++k) {
        const float far = grid.spacing + x[k] * grid.width;
        if (far < 0 || k >= grid.nx) continue;
        sum += grid.spacing * grid.spacing / (far * far);
    }
    y[i] += sum;
}
