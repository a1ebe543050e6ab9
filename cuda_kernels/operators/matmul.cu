// The product of an m x k and a k x n matrix, by tiles in shared memory. A block has ACROSS x DOWN threads, of which each holds PER x PER
// elements in registers, so that what is read from shared memory serves PER products: `small` one element, `middle` 4 x 4, `large` 8 x 8.
// A matrix that is TURNED lies in memory transposed.

// Element (edge, depth) of a matrix, 0 outside of it; along `edge` lies what the result has too.
template <bool EDGE_FIRST, typename T>
__device__ T element(const T *matrix, int edge, int depth, int edges, int depths)
{
    int at = EDGE_FIRST ? edge * depths + depth : depth * edges + edge;
    return edge < edges && depth < depths ? matrix[at] : T(0);
}

template <typename T, bool TURNED_A = false, bool TURNED_B = false>
__global__ void small(const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ out, int m, int n, int k)
{
    constexpr int TILE = 16;
    __shared__ T rows[TILE][TILE], columns[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    T sum = 0;
    for (int first = 0; first < k; first += TILE) {
        if (TURNED_A)
            rows[x][y] = element<false>(a, top + x, first + y, m, k);
        else
            rows[y][x] = element<true>(a, top + y, first + x, m, k);
        if (TURNED_B)
            columns[x][y] = element<true>(b, left + y, first + x, n, k);
        else
            columns[y][x] = element<false>(b, left + x, first + y, n, k);
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += rows[y][i] * columns[i][x];
        __syncthreads();
    }
    if (top + y < m && left + x < n)
        out[(top + y) * n + left + x] = sum;
}

// A tile of a matrix, DEPTH x EDGE elements, each thread its share of neighbouring ones.
template <int THREADS, int DEPTH, int EDGE, bool EDGE_FIRST, int WIDE, typename T>
__device__ void fetch(T (*tile)[WIDE], const T *matrix, int self, int top, int first, int edges, int depths)
{
    constexpr int SHARE = EDGE * DEPTH / THREADS;
    T share[SHARE];
#pragma unroll
    for (int i = 0; i < SHARE; i++) {
        int at = self + i * THREADS, edge = EDGE_FIRST ? at / DEPTH : at % EDGE, depth = EDGE_FIRST ? at % DEPTH : at / EDGE;
        share[i] = element<EDGE_FIRST>(matrix, top + edge, first + depth, edges, depths);
    }
#pragma unroll
    for (int i = 0; i < SHARE; i++) {
        int at = self + i * THREADS, edge = EDGE_FIRST ? at / DEPTH : at % EDGE, depth = EDGE_FIRST ? at % DEPTH : at / EDGE;
        tile[depth][edge] = share[i];
    }
}

// Which element along an edge is the i-th of a thread: four neighbours, which are read at once, then four as far away as there are threads.
template <int THREADS>
__device__ int place(int thread, int i)
{
    return i / 4 * 4 * THREADS + thread * 4 + i % 4;
}

template <int PER, int ACROSS, int DOWN, int DEPTH, bool TURNED_A, bool TURNED_B, typename T>
__device__ void by_blocks(const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ out, int m, int n, int k)
{
    constexpr int HIGH = PER * DOWN, WIDE = PER * ACROSS, THREADS = ACROSS * DOWN;
    constexpr int PADDING = 4; // against conflicts of memory banks where neighbouring threads store one below the other
    __shared__ T rows[DEPTH][HIGH + (TURNED_A ? 0 : PADDING)], columns[DEPTH][WIDE + (TURNED_B ? PADDING : 0)];
    int x = threadIdx.x, y = threadIdx.y, top = blockIdx.y * HIGH, left = blockIdx.x * WIDE;
    T sum[PER][PER] = {};
    for (int first = 0; first < k; first += DEPTH) {
        fetch<THREADS, DEPTH, HIGH, !TURNED_A>(rows, a, y * ACROSS + x, top, first, m, k);
        fetch<THREADS, DEPTH, WIDE, TURNED_B>(columns, b, y * ACROSS + x, left, first, n, k);
        __syncthreads();
#pragma unroll 1
        for (int depth = 0; depth < DEPTH; depth++)
#pragma unroll
            for (int i = 0; i < PER; i++)
#pragma unroll
                for (int j = 0; j < PER; j++)
                    sum[i][j] += rows[depth][place<DOWN>(y, i)] * columns[depth][place<ACROSS>(x, j)];
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < PER; i++)
#pragma unroll
        for (int j = 0; j < PER; j++) {
            int row = top + place<DOWN>(y, i), column = left + place<ACROSS>(x, j);
            if (row < m && column < n)
                out[row * n + column] = sum[i][j];
        }
}

template <typename T, bool TURNED_A = false, bool TURNED_B = false>
__global__ void __launch_bounds__(256) middle(const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ out, int m, int n, int k)
{
    by_blocks<4, 16, 16, 16, TURNED_A, TURNED_B>(a, b, out, m, n, k);
}

template <typename T, bool TURNED_A = false, bool TURNED_B = false>
__global__ void __launch_bounds__(128) large(const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ out, int m, int n, int k)
{
    by_blocks<8, 16, 8, 8, TURNED_A, TURNED_B>(a, b, out, m, n, k);
}
