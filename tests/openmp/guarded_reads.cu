// What is read only behind a condition, with indices that lead nowhere where the condition does not hold.
__global__ void skipped(const double *x, const int *at, const int *mark, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = at[i];
    if (j < 0 || mark[j] == 0)
        return;
    y[i] = x[i] * x[i] * mark[j];
}

__global__ void chosen(const double *x, const int *at, const int *mark, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = at[i];
    double v;
    if (j < 0)
        v = exp(x[i]);
    else if (mark[j] == 0)
        v = x[i] * 2 / (1 + x[i] * x[i]);
    else {
        v = sin(x[i]);
        y[i] = 2;
    }
    y[i] += v * v;
}

__global__ void followed(const double *x, const int *at, const int *mark, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 1;
    for (int j = at[i], steps = 0; j >= 0 && mark[j] > 0 && steps < 5; j = at[j], ++steps)
        sum += sum * x[j];
    y[i] = sum;
}

__global__ void nested(const double *x, const int *at, const int *mark, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 3; ++k) {
        int j = at[(i + k) % n];
        if (j < 0 || mark[j] < 2 || x[at[mark[j]]] > 0.4)
            continue;
        y[i] += x[i] * x[j];
    }
}
