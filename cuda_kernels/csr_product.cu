// Sparse matrix times vector, compressed rows: a loop whose bounds are data.
template <typename index_t, typename value_t>
__global__ void csr_product(index_t rows, const index_t *__restrict__ row_start, const index_t *__restrict__ column,
                            const value_t *__restrict__ value, const value_t *__restrict__ x, value_t *__restrict__ y) {
    index_t row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        value_t sum = 0;
        for (index_t k = row_start[row]; k < row_start[row + 1]; ++k) sum += value[k] * x[column[k]];
        y[row] = sum;
    }
}

template __global__ void csr_product(int, const int *, const int *, const double *, const double *, double *);
