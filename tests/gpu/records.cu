// Every thread weighs one of a few records of a table, which it looks up: additions to whole records, by many threads to the same.
template <typename T, int LENGTH>
__global__ void weigh(const T *table, const int *which, const T *weights, T *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const T *record = table + which[i] * LENGTH;
    T sum = 0;
#pragma unroll
    for (int k = 0; k < LENGTH; k++)
        sum += weights[k] * record[k] * record[k];
    out[i] = sum;
}
