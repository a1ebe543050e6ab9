// A pointer to rows of fixed length, as a two-dimensional C array decays to.
#define WIDTH 8

__global__ void row_norms(const float (*matrix)[WIDTH], float *norm, int rows) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    for (int c = 0; c < WIDTH; c++) sum += matrix[r][c] * matrix[r][c];
    norm[r] = sqrt(sum);
}
