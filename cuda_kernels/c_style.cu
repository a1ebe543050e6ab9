/* C linkage, so that the kernel is found by its plain name. */
extern "C" {

typedef float real;

__global__ void polynomial(const real *coefficients, const real *x, real *y, int degree, int n)
{
    int i = blockIdx.x*blockDim.x + threadIdx.x;
    int k;
    real s;

    if (i >= n)
        return;
    s = coefficients[degree];
    for (k = degree - 1; k >= 0; k--)
        s = s*x[i] + coefficients[k];
    y[i] = s;
}

}
