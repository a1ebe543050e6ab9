// Maxima and minima by atomics in arrays that are members of structs.
struct Groups {
    const float *v;
    float *most, *least;
    const int *group;
};

__global__ void extremes(Groups g, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float square = g.v[i] * g.v[i];
        atomicMax((int *)&g.most[g.group[i]], __float_as_int(square));
        atomicMin((int *)&g.least[g.group[i]], __float_as_int(g.v[i]));
    }
}

struct Bits {
    const float *v;
    unsigned *most;
};

struct Sums {
    Bits of;
    float *sum;
    int n;
};

// Of integers, which carry no derivative, beside a sum that does, in a struct in a struct.
__global__ void largest_bits(Sums s)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < s.n) {
        float square = s.of.v[i] * s.of.v[i];
        atomicMax(&s.of.most[0], __float_as_uint(square));
        atomicAdd(&s.sum[0], square);
    }
}

// What remains is not known before all threads have come.
__global__ void read_at_once(Groups g, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicMax((int *)&g.most[g.group[i]], __float_as_int(g.v[i] * g.v[i]));
        y[i] = g.most[g.group[i]];
    }
}
