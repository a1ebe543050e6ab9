// Matrices whose rows belong to warps, blocks or threads, and some whose elements do not belong to one thread.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

struct Shape {
    int rows, columns;
};

// A warp has a row, by cooperative groups.
__global__ void normalise(const double *x, const double *scale, double *y, int rows, int columns)
{
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    const int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (row >= rows)
        return;
    const double *mine = x + row * columns;
    double sum = 0, squares = 0;
    for (int i = warp.thread_rank(); i < columns; i += warp.size())
        sum += mine[i];
    const double mean = cg::reduce(warp, sum, cg::plus<double>()) / columns;
    for (int i = warp.thread_rank(); i < columns; i += warp.size())
        squares += (mine[i] - mean) * (mine[i] - mean);
    const double spread = sqrt(cg::reduce(warp, squares, cg::plus<double>()) / columns + 0.1);
    for (int i = warp.thread_rank(); i < columns; i += warp.size())
        y[row * columns + i] = (mine[i] - mean) / spread * scale[i];
}

// A block has a row; the shape is a struct by value. Without barriers, the block may be of any width.
__global__ void powers(const double *x, double *y, double *z, Shape shape)
{
    for (int i = threadIdx.x; i < shape.columns; i += blockDim.x) {
        const double v = x[blockIdx.x * shape.columns + i];
        y[blockIdx.x * shape.columns + i] = v * v + sin(v);
    }
    for (int i = threadIdx.x; i < shape.columns; i += blockDim.x)
        z[blockIdx.x * shape.columns + i] = x[blockIdx.x * shape.columns + i] * x[blockIdx.x * shape.columns + i];
}

// A thread has a row.
__global__ void by_threads(const double *x, double *y, int rows, int columns)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    double product = 1;
    for (int i = 0; i < columns; ++i)
        product *= x[row * columns + i];
    y[row] = product;
}

// A warp walks over rows with the grid; elements of three numbers.
__global__ void walks(const double *x, double *y, int rows, int columns)
{
    const int warps = blockDim.x / 32, lane = threadIdx.x % 32;
    for (int row = blockIdx.x * warps + threadIdx.x / 32; row < rows; row += gridDim.x * warps)
        for (int i = lane; i < columns; i += 32) {
            const double *v = x + 3 * (row * columns + i);
            y[row * columns + i] = v[0] * v[1] + v[2] * v[2];
        }
}

// All warps of a block read the block's row.
__global__ void all_warps(const double *x, double *y, int columns)
{
    const int lane = threadIdx.x % 32;
    if (lane < columns)
        y[blockIdx.x * blockDim.x + threadIdx.x] =
            x[blockIdx.x * columns + lane] * x[blockIdx.x * columns + lane] * (1 + threadIdx.x / 32);
}

// Rows overlap where they are longer than they lie apart.
__global__ void overlapping(const double *x, double *y, int columns, int apart)
{
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        y[blockIdx.x * columns + i] = x[blockIdx.x * apart + i] * x[blockIdx.x * apart + i];
}

// The next element too.
__global__ void differences(const double *x, double *y, int columns)
{
    for (int i = threadIdx.x; i + 1 < columns; i += blockDim.x) {
        const double d = x[blockIdx.x * columns + i + 1] - x[blockIdx.x * columns + i];
        y[blockIdx.x * columns + i] = d * d;
    }
}

// A row begins behind the end of the one before it, or earlier: where, is read.
__global__ void from_anywhere(const double *x, const int *begins, double *y, int rows, int columns)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    double sum = 0;
    for (int i = begins[row]; i < columns; ++i)
        sum += x[row * columns + i] * x[row * columns + i];
    y[row] = sum;
}
