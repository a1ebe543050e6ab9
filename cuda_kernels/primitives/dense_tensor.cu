// A fully connected layer on Tensor Cores: out = activation(x theta + bias); the last row of `theta` is the bias, but for
// PRODUCT, a product of matrices alone, which may lie in memory transposed. dense.cu is the plain form. VECTORS: rows of
// all matrices are multiples of 16 bytes; without, any shape.
#include "tensor_tile.cuh"

// One block's part.
template <typename T, int ACTIVATION, int M, int N, int DEPTH, int STAGES, int WARPS_M, int WARPS_N, bool VECTORS,
          bool TURNED_X, bool TURNED_THETA>
__device__ void layer_of_block(const T *__restrict__ x, const T *__restrict__ theta, T *__restrict__ out, int rows,
                               int inputs, int outputs, int strip)
{
    using Work = Tile<T, M, N, DEPTH, STAGES, WARPS_M, WARPS_N, TURNED_X, TURNED_THETA, VECTORS>;
    extern __shared__ __align__(16) unsigned char memory[];
    int2 part = part_of_block<M, N>(rows, outputs, strip);
    Rows<T> left = {x, TURNED_X ? inputs : rows, TURNED_X ? rows : inputs};
    Rows<T> right = {theta, TURNED_THETA ? outputs : inputs, TURNED_THETA ? inputs : outputs};
    Work work;
    work.run(reinterpret_cast<T *>(memory), left, right, part.x, part.y, inputs);
    work.template store<ACTIVATION>(out, theta + size_t(inputs) * outputs, part.x, part.y, rows, outputs);
}

// Grid: blocks of M rows times blocks of N columns, rounded up; 32 * WARPS_M * WARPS_N threads; Tile::bytes of dynamic
// shared memory.
template <typename T, int ACTIVATION, int M, int N, int DEPTH, int STAGES, int WARPS_M, int WARPS_N, bool VECTORS,
          bool TURNED_X, bool TURNED_THETA>
__global__ void __launch_bounds__(32 * WARPS_M *WARPS_N)
    dense_tensor(const T *__restrict__ x, const T *__restrict__ theta, T *__restrict__ out, int rows, int inputs,
                 int outputs, int strip)
{
    layer_of_block<T, ACTIVATION, M, N, DEPTH, STAGES, WARPS_M, WARPS_N, VECTORS, TURNED_X, TURNED_THETA>(
        x, theta, out, rows, inputs, outputs, strip);
}
