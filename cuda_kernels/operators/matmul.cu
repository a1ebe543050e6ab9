// The product of an m x k and a k x n matrix, by tiles in shared memory. `small` has an element for each thread; in `large` a thread
// holds PER x PER elements in registers, so that what is read from shared memory serves PER products.
constexpr int TILE = 16;         // threads along an edge of a block, and depth of a tile
constexpr int PER = 4;           // elements of a thread along an edge
constexpr int EDGE = TILE * PER; // elements of a block along an edge, in `large`

template <typename T>
__global__ void small(const T *a, const T *b, T *out, int m, int n, int k)
{
    __shared__ T rows[TILE][TILE], columns[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    T sum = 0;
    for (int first = 0; first < k; first += TILE) {
        int across = first + threadIdx.x, down = first + threadIdx.y;
        rows[threadIdx.y][threadIdx.x] = row < m && across < k ? a[row * k + across] : T(0);
        columns[threadIdx.y][threadIdx.x] = down < k && column < n ? b[down * n + column] : T(0);
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += rows[threadIdx.y][i] * columns[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n)
        out[row * n + column] = sum;
}

template <typename T>
__global__ void large(const T *a, const T *b, T *out, int m, int n, int k)
{
    __shared__ T rows[TILE][EDGE], columns[TILE][EDGE]; // the first transposed
    int self = threadIdx.y * TILE + threadIdx.x, top = blockIdx.y * EDGE, left = blockIdx.x * EDGE;
    T sum[PER][PER] = {};
    for (int first = 0; first < k; first += TILE) {
        for (int i = 0; i < PER; i++) {
            int at = self + i * TILE * TILE;
            int row = top + at / TILE, across = first + at % TILE, down = first + at / EDGE, column = left + at % EDGE;
            rows[at % TILE][at / TILE] = row < m && across < k ? a[row * k + across] : T(0);
            columns[at / EDGE][at % EDGE] = down < k && column < n ? b[down * n + column] : T(0);
        }
        __syncthreads();
        for (int depth = 0; depth < TILE; depth++)
            for (int i = 0; i < PER; i++)
                for (int j = 0; j < PER; j++)
                    sum[i][j] += rows[depth][threadIdx.y * PER + i] * columns[depth][threadIdx.x + j * TILE];
        __syncthreads();
    }
    for (int i = 0; i < PER; i++)
        for (int j = 0; j < PER; j++) {
            int row = top + threadIdx.y * PER + i, column = left + threadIdx.x + j * TILE;
            if (row < m && column < n)
                out[row * n + column] = sum[i][j];
        }
}
