// The transposed matrix, through tiles in shared memory so that reads and writes are both of neighbouring elements.
constexpr int TILE = 32, STRIPS = 8; // a block has TILE x STRIPS threads

template <typename T>
__global__ void transpose(const T *a, T *out, int rows, int columns)
{
    __shared__ T tile[TILE][TILE + 1];
    int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
    for (int strip = 0; strip < TILE; strip += STRIPS)
        if (row + strip < rows && column < columns)
            tile[threadIdx.y + strip][threadIdx.x] = a[(row + strip) * columns + column];
    __syncthreads();
    column = blockIdx.y * TILE + threadIdx.x;
    row = blockIdx.x * TILE + threadIdx.y;
    for (int strip = 0; strip < TILE; strip += STRIPS)
        if (row + strip < columns && column < rows)
            out[(row + strip) * rows + column] = tile[threadIdx.x][threadIdx.y + strip];
}
