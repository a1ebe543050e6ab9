// Quotients and roots that are computed in any case, used in two results, and dropped together where they are infinite.
#define ELEMENT                                                                                                        \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                               \
    if (i >= n) return

__global__ void two_results(const double *x, double *y, double *z, int n)
{
    ELEMENT;
    const double v = x[i], q = 1 / v;
    double a = q * 3, b = q * q + v;
    if (v == 0) {
        a = 1;
        b = 2;
    }
    y[i] = a;
    z[i] = b;
}

__global__ void direction(const double *x, double *y, double *z, int n)
{
    ELEMENT;
    const double v = x[i], length = sqrt(v), inverse = 1 / length;
    double a = v * inverse, b = 2 * inverse;
    if (length < 1e-8) {
        a = 0;
        b = 0;
    }
    y[i] = a;
    z[i] = b;
}

__global__ void three_results(const double *x, double *y, double *z, int n)
{
    ELEMENT;
    const double v = x[i], l = log(v), q = 1 / v;
    const bool bad = v <= 0;
    const double a = bad ? 0. : l, b = bad ? v : l * l + q, c = bad ? 3 * v : q * q;
    y[i] = a + c;
    z[i] = b;
}

__global__ void one_after_the_other(const double *x, double *y, double *z, int n)
{
    ELEMENT;
    const double v = x[i], q = 1 / v;
    y[i] = v == 0 ? 1. : q * 3;
    z[i] = v == 0 ? 2. : q * q * y[i];
}

__global__ void in_a_loop(const double *x, double *y, double *z, int n)
{
    ELEMENT;
    double s = 0, t = 0;
    for (int k = 1; k < 4; ++k) {
        const double v = x[i] * k, q = 1 / v;
        double a = q, b = q * q;
        if (v == 0) {
            a = v;
            b = 1;
        }
        s += a;
        t += b;
    }
    y[i] = s;
    z[i] = t;
}
