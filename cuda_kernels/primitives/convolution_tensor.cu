// A convolution of images on Tensor Cores, as a product of matrices that are never there (implicit GEMM): a row of the
// left one is the neighbourhood of a pixel. image is (images, height, width, channels), out (images, height, width,
// filters); zeros surround the images. theta has a row for each of EDGE x EDGE x channels, and the bias as its last row.
// VECTORS: channels and filters are multiples of 16 bytes; without, any numbers.
#include "tensor_tile.cuh"

template <typename T, int EDGE>
struct Neighbourhoods {
    const T *image;
    int images, height, width, channels;

    struct Place {
        Neighbourhoods of;
        int row, column;

        // Where an element is in the image; -1 for what lies outside.
        __device__ long long at(int pixel, int inner) const
        {
            int x = pixel % of.width, y = pixel / of.width % of.height, number = pixel / of.width / of.height;
            int channel = inner % of.channels, tap = inner / of.channels;
            x += tap % EDGE - EDGE / 2;
            y += tap / EDGE - EDGE / 2;
            bool inside = number < of.images && tap < EDGE * EDGE && x >= 0 && x < of.width && y >= 0 && y < of.height;
            return inside ? (((long long)number * of.height + y) * of.width + x) * of.channels + channel : -1;
        }
        template <bool VECTORS>
        __device__ void copy(T *to, int below) const
        {
            if constexpr (VECTORS) {
                long long from = at(row + below, column);
                copy_pack<true>(to, of.image + max(from, 0ll), from >= 0 ? 1 : 0);
            } else {
#pragma unroll
                for (int i = 0; i < int(16 / sizeof(T)); i++) {
                    long long from = at(row + below, column + i);
                    to[i] = T(from >= 0 ? float(of.image[from]) : 0.0f);
                }
            }
        }
        __device__ void right(int by) { column += by; }
    };

    __device__ Place place(int row, int column) const { return {*this, row, column}; }
};

// Grid: blocks of M pixels times blocks of N filters, rounded up; 32 * WARPS_M * WARPS_N threads; Tile::bytes of
// dynamic shared memory.
template <typename T, int EDGE, int ACTIVATION, int M, int N, int DEPTH, int STAGES, int WARPS_M, int WARPS_N,
          bool VECTORS>
__global__ void __launch_bounds__(32 * WARPS_M *WARPS_N)
    convolution_tensor(const T *__restrict__ image, const T *__restrict__ theta, T *__restrict__ out, int images,
                       int height, int width, int channels, int filters)
{
    using Work = Tile<T, M, N, DEPTH, STAGES, WARPS_M, WARPS_N, false, false, VECTORS>;
    extern __shared__ __align__(16) unsigned char memory[];
    int across = (filters + N - 1) / N, inner = EDGE * EDGE * channels, pixels = images * height * width;
    int top = blockIdx.x / across * M, begin = blockIdx.x % across * N;
    Neighbourhoods<T, EDGE> left = {image, images, height, width, channels};
    Rows<T> right = {theta, inner, filters};
    Work work;
    work.run(reinterpret_cast<T *>(memory), left, right, top, begin, inner);
    work.template store<ACTIVATION>(out, theta + size_t(inner) * filters, top, begin, pixels, filters);
}
