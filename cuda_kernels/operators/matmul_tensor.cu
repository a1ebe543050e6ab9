// The product of an m x k and a k x n matrix on Tensor Cores, in float: factors are half, __nv_bfloat16, or float of which
// tf32 is multiplied. A matrix that is TURNED lies in memory transposed. VECTORS: rows of all matrices are multiples of
// 16 bytes. A block of 32 * WARPS_M * WARPS_N threads computes M x N elements; Tile::bytes of dynamic shared memory.
#include "../primitives/tensor_tile.cuh"

template <typename T, int M, int N, int DEPTH, int STAGES, int WARPS_M, int WARPS_N, bool VECTORS, bool TURNED_A,
          bool TURNED_B>
__global__ void __launch_bounds__(32 * WARPS_M *WARPS_N)
    product(const T *__restrict__ a, const T *__restrict__ b, float *__restrict__ out, int m, int n, int k)
{
    using Work = Tile<T, M, N, DEPTH, STAGES, WARPS_M, WARPS_N, TURNED_A, TURNED_B, VECTORS>;
    extern __shared__ __align__(16) unsigned char memory[];
    constexpr int strip = 4;
    int2 part = part_of_block<M, N>(m, n, strip);
    Rows<T> left = {a, TURNED_A ? k : m, TURNED_A ? m : k}, right = {b, TURNED_B ? n : k, TURNED_B ? k : n};
    Work work;
    work.run(reinterpret_cast<T *>(memory), left, right, part.x, part.y, k);
    work.template store<PRODUCT>(out, nullptr, part.x, part.y, m, n);
}
