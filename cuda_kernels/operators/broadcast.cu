// One row repeated for many rows, or one column for many columns. A thread writes a strip of the result.
template <typename T>
__global__ void repeat_row(const T *a, T *out, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns)
        return;
    T value = a[column];
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < rows; row += gridDim.y * blockDim.y)
        out[row * columns + column] = value;
}

template <typename T>
__global__ void repeat_column(const T *a, T *out, int rows, int columns)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    T value = a[row];
    for (int column = blockIdx.x * blockDim.x + threadIdx.x; column < columns; column += gridDim.x * blockDim.x)
        out[row * columns + column] = value;
}
