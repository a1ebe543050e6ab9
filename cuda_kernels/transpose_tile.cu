// Transposition through a padded tile, with a scaling that keeps it from being a mere copy.
__global__ void transpose(const float *__restrict__ in, const float *__restrict__ scale, float *__restrict__ out, int rows,
                          int columns) {
    __shared__ float tile[8][8 + 1];
    int c = blockIdx.x * 8 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
    if (r < rows && c < columns) tile[threadIdx.y][threadIdx.x] = in[r * columns + c] * scale[r];
    __syncthreads();
    int tr = blockIdx.x * 8 + threadIdx.y, tc = blockIdx.y * 8 + threadIdx.x;
    if (tr < columns && tc < rows) out[tr * rows + tc] = tile[threadIdx.x][threadIdx.y];
}
