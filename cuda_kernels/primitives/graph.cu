// out[copy][node] = sum over the node's edges of value * x[copy][neighbour]: the product of a sparse matrix in CSR form with every copy.
// One thread for an element. Grid: (columns / 32, nodes / 8 of all copies), rounded up; blocks of 32 x 8.
template <typename T>
__global__ void propagate(const int *__restrict__ begin, const int *__restrict__ neighbour, const T *__restrict__ value, const T *__restrict__ x,
                          T *__restrict__ out, int rows, int nodes, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns || row >= rows)
        return;
    int node = row % nodes;
    const T *own = x + (row - node) * columns;
    T sum = 0;
    for (int edge = begin[node]; edge < begin[node + 1]; edge++)
        sum += value[edge] * own[neighbour[edge] * columns + column];
    out[row * columns + column] = sum;
}
