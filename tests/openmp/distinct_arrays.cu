// What a gradient assumes of the arrays that its arguments lead to, and what it must not assume.
struct Arrays {
    const double *a, *b;
    double *y, *z;
    int n;
};

// Two sums, of which one reads what the other might change, if arrays overlapped.
__global__ void sums(Arrays s, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= s.n)
        return;
    double sum = 0.0;
    for (int k = 0; k < rounds; ++k)
        sum += s.a[(i + k) % s.n] * s.b[i] * s.b[i];
    s.y[i] = sum;
    s.z[i] = sum * s.a[i];
}

// The pointers of the struct change places: what lies behind a member is another array later.
__global__ void swapped(Arrays s, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= s.n)
        return;
    for (int k = 0; k < rounds; ++k) {
        s.y[i] += s.a[i] * s.z[i];
        double *other = s.y;
        s.y = s.z;
        s.z = other;
    }
}

// A pointer that may be one array or the other, and the thread's own reading of what it has written.
__global__ void either(Arrays s, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= s.n)
        return;
    double *to = i % 3 ? s.y : s.z;
    const double *from = i % 2 ? s.a : s.b;
    for (int k = 0; k < rounds; ++k)
        to[i] = to[i] * from[i] + s.y[i] * s.z[i];
}

// Views of one array behind one parameter.
__global__ void halves(double *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double *low = x, *high = x + n;
    if (i < n)
        for (int k = 0; k < 3; ++k) {
            low[i] += high[i] * high[i];
            high[i] = low[i] * 0.25;
        }
}
