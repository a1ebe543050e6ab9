// Loops over the grid of which each iteration could stand alone, but for how they are written: pointers are moved on in
// them, a variable that gets a value in some cases alone is declared in them, and results are computed in place.

// Row `i` of a triangle begins where those before it end; the digits of `i` are put together again.
__global__ void rows(int n, int digits, const float *x, const int *which, float *out)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        int high = i / digits, low = i % digits;
        which += 1 + high * digits + low;
        out[i] = x[which[0]] * x[which[0]];
    }
}

__global__ void kinds(int n, const float *x, float *out)
{
    int kind = threadIdx.y;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float step, at = x[i];
        switch (kind) {
        case 0: step = at * at; break;
        case 1: step = sinf(at); break;
        case 2: step = 1 / at; break;
        }
        out[3 * i + kind] = step * at;
    }
}

__global__ void weighted(int n, int kinds, const float *x, const int *kind, const float *weight, float power, float *out)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float p = 1 / (1 + expf(-x[i]));
        out[i] = -powf(1 - p, power) * logf(p);
        if (kinds > 0)
            out[i] *= weight[kind[i]];
    }
}
