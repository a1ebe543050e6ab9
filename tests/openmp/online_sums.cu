// Sums of exponentials that are rescaled whenever a row's largest exponent so far grows.
#include <math.h>

__global__ void softmax(int n, int length, const double *x, double scale, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n)
        return;
    double largest = -1e300, sum = 0;
    for (int i = 0; i < length; ++i) {
        double next = fmax(largest, x[row * length + i]);
        sum *= exp(scale * (largest - next));
        sum += exp(scale * (x[row * length + i] - next));
        largest = next;
    }
    for (int i = 0; i < length; ++i)
        y[row * length + i] = exp(scale * (x[row * length + i] - largest)) / sum;
}

// The sum goes on where another loop has left it, and no number may be there at first.
__global__ void logarithm(int n, int length, const double *x, const double *z, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n)
        return;
    double largest = -INFINITY, sum = 0;
    for (int i = 0; i < length; ++i) {
        double next = fmax(largest, x[row * length + i]);
        sum = sum * exp2(largest - next) + exp2(x[row * length + i] - next);
        largest = next;
    }
    for (int i = length - 1; i >= 0; --i) {
        double next = fmax(largest, z[row * length + i]);
        sum = sum * exp2(largest - next) + exp2(z[row * length + i] - next);
        largest = next;
    }
    if (length)
        y[row] = largest + log2(sum);
}

// Weighted sums beside it, of which some terms are masked; their largest exponent has a derivative of its own.
__global__ void attention(int n, int length, const double *q, const double *k, const double *v, double *y, double *m)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n)
        return;
    double largest = -1e300, sum = 0, first = 0, second = 0;
    for (int i = 0; i < length; ++i) {
        double score = q[2 * row] * k[2 * i] + q[2 * row + 1] * k[2 * i + 1];
        double next = fmax(largest, score);
        double shrink = exp(largest - next), power = exp(score - next), weight = i % 3 == row % 3 ? 0 : power;
        sum = fma(sum, shrink, weight);
        first = fma(first, shrink, weight * v[2 * i]);
        second = second * shrink - weight * v[2 * i + 1] / (1 + v[2 * i] * v[2 * i]);
        largest = next;
    }
    if (sum > 0) {
        y[2 * row] = first / sum;
        y[2 * row + 1] = second / sum;
        m[row] = largest * sum;
    }
}

// Each partial sum counts: no sum has a loop of its own.
__global__ void partial(int n, int length, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n)
        return;
    double largest = -1e300, sum = 0, all = 0;
    for (int i = 0; i < length; ++i) {
        double next = fmax(largest, x[row * length + i]);
        sum = sum * exp(largest - next) + exp(x[row * length + i] - next);
        all += sum * x[row * length + i];
        largest = next;
    }
    y[row] = all;
}
