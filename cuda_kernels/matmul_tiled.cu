// The textbook's matrix product: 16 x 16 tiles in static shared memory, sizes that need not divide.
#define TILE 16

__global__ void matmul(const float *A, const float *B, float *C, int m, int n, int k) {
    __shared__ float tileA[TILE][TILE];
    __shared__ float tileB[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
        int ka = t * TILE + threadIdx.x, kb = t * TILE + threadIdx.y;
        tileA[threadIdx.y][threadIdx.x] = row < m && ka < k ? A[row * k + ka] : 0.0f;
        tileB[threadIdx.y][threadIdx.x] = kb < k && column < n ? B[kb * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += tileA[threadIdx.y][i] * tileB[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) C[row * n + column] = sum;
}
