// Matrix products on Tensor Cores as people write them with nvcuda::wmma: tiles in shared memory, epilogues, attention,
// an implicit convolution, batches of small matrices, and the precisions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

constexpr int WM = 16, WN = 16, WK = 16;
constexpr int BLOCK_M = 32, BLOCK_N = 32; // four warps, one tile each

// C = alpha A B + beta C. Rows of the tiles in shared memory are padded against bank conflicts.
__global__ void __launch_bounds__(128) gemm_tiled(const half *__restrict__ A, const half *__restrict__ B, float *C,
                                                  int M, int N, int K, float alpha, float beta)
{
    __shared__ half As[BLOCK_M][WK + 8];
    __shared__ half Bs[WK][BLOCK_N + 8];
    const int warp = threadIdx.x / 32;
    const int wm = warp / 2, wn = warp % 2;
    const int row0 = blockIdx.y * BLOCK_M, col0 = blockIdx.x * BLOCK_N;

    wmma::fragment<wmma::accumulator, WM, WN, WK, float> acc;
    wmma::fill_fragment(acc, 0.0f);
    for (int k0 = 0; k0 < K; k0 += WK) {
        for (int i = threadIdx.x; i < BLOCK_M * WK; i += blockDim.x)
            As[i / WK][i % WK] = A[(row0 + i / WK) * K + k0 + i % WK];
        for (int i = threadIdx.x; i < WK * BLOCK_N; i += blockDim.x)
            Bs[i / BLOCK_N][i % BLOCK_N] = B[(k0 + i / BLOCK_N) * N + col0 + i % BLOCK_N];
        __syncthreads();
        wmma::fragment<wmma::matrix_a, WM, WN, WK, half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, WM, WN, WK, half, wmma::row_major> b;
        wmma::load_matrix_sync(a, &As[wm * WM][0], WK + 8);
        wmma::load_matrix_sync(b, &Bs[0][wn * WN], BLOCK_N + 8);
        wmma::mma_sync(acc, a, b, acc);
        __syncthreads();
    }
    float *out = C + (row0 + wm * WM) * N + col0 + wn * WN;
    wmma::fragment<wmma::accumulator, WM, WN, WK, float> c;
    wmma::load_matrix_sync(c, out, N, wmma::mem_row_major);
    for (int i = 0; i < c.num_elements; ++i)
        c.x[i] = alpha * acc.x[i] + beta * c.x[i];
    wmma::store_matrix_sync(out, c, N, wmma::mem_row_major);
}

// y = gelu(x W^T + b) in half; each warp takes two tiles side by side and stages its sums for the epilogue.
__global__ void linear_gelu(const half *x, const half *weight, const half *bias, half *y, int features_in, int features_out)
{
    extern __shared__ float staging[];
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    float *mine = staging + warp * 16 * 32;
    const int row = blockIdx.x * 16, col = (blockIdx.y * (blockDim.x / 32) + warp) * 32;

    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b[2];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2];
#pragma unroll
    for (int j = 0; j < 2; ++j)
        wmma::fill_fragment(acc[j], 0.0f);
    for (int k = 0; k < features_in; k += 16) {
        wmma::load_matrix_sync(a, x + row * features_in + k, features_in);
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            wmma::load_matrix_sync(b[j], weight + (col + 16 * j) * features_in + k, features_in);
            wmma::mma_sync(acc[j], a, b[j], acc[j]);
        }
    }
#pragma unroll
    for (int j = 0; j < 2; ++j)
        wmma::store_matrix_sync(mine + 16 * j, acc[j], 32, wmma::mem_row_major);
    __syncwarp();
    for (int r = 0; r < 16; ++r) {
        const float z = mine[r * 32 + lane] + __half2float(bias[col + lane]);
        const float cube = 0.044715f * z * z * z;
        y[(row + r) * features_out + col + lane] = __float2half(0.5f * z * (1.0f + tanhf(0.7978845608f * (z + cube))));
    }
}

// One head, one warp for 16 queries: S = Q K^T, row-wise softmax, O = P V. The warp's own tiles without a barrier
// between what wmma stores and loads, as the instructions are done by all lanes at once.
__global__ void attention(const half *q, const half *k, const half *v, float *o, int keys, float scale)
{
    __shared__ float scores[16][48];
    __shared__ half probabilities[16][48];
    const int lane = threadIdx.x, head = 16;
    const half *queries = q + blockIdx.x * 16 * head;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fq;
    wmma::load_matrix_sync(fq, queries, head);
    for (int j = 0; j < keys; j += 16) {
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fk;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> s;
        wmma::load_matrix_sync(fk, k + j * head, head);
        wmma::fill_fragment(s, 0.0f);
        wmma::mma_sync(s, fq, fk, s);
        for (int i = 0; i < s.num_elements; ++i)
            s.x[i] *= scale;
        wmma::store_matrix_sync(&scores[0][j], s, 48, wmma::mem_row_major);
    }
    __syncwarp();
    if (lane < 16) {
        float most = -INFINITY, sum = 0.0f;
        for (int j = 0; j < keys; ++j)
            most = fmaxf(most, scores[lane][j]);
        for (int j = 0; j < keys; ++j)
            sum += scores[lane][j] = __expf(scores[lane][j] - most);
        for (int j = 0; j < keys; ++j)
            probabilities[lane][j] = __float2half(scores[lane][j] / sum);
    }
    __syncwarp();
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fo;
    wmma::fill_fragment(fo, 0.0f);
    for (int j = 0; j < keys; j += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fp;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fv;
        wmma::load_matrix_sync(fp, &probabilities[0][j], 48);
        wmma::load_matrix_sync(fv, v + j * head, head);
        wmma::mma_sync(fo, fp, fv, fo);
    }
    wmma::store_matrix_sync(o + blockIdx.x * 16 * head, fo, head, wmma::mem_row_major);
}

// (A B) C of small matrices, in bfloat16: what the first product gives is rounded and multiplied again, by way of shared
// memory that only this warp has.
__global__ void batched_chain(const __nv_bfloat16 *a, const __nv_bfloat16 *b, const __nv_bfloat16 *c, float *d, int batch)
{
    __shared__ float sums[4][256];
    __shared__ __nv_bfloat16 rounded[4][256];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, item = blockIdx.x * 4 + warp;
    if (item >= batch) return;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::load_matrix_sync(left, a + item * 256, 16);
    wmma::load_matrix_sync(right, b + item * 256, 16);
    wmma::fill_fragment(acc, 0.0f);
    wmma::mma_sync(acc, left, right, acc);
    wmma::store_matrix_sync(sums[warp], acc, 16, wmma::mem_col_major);
    __syncwarp();
    for (int i = lane; i < 256; i += 32)
        rounded[warp][i] = __float2bfloat16(sums[warp][i]);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::col_major> middle;
    wmma::load_matrix_sync(middle, rounded[warp], 16);
    wmma::load_matrix_sync(right, c + item * 256, 16);
    wmma::fill_fragment(acc, 0.0f);
    wmma::mma_sync(acc, middle, right, acc);
    wmma::store_matrix_sync(d + item * 256, acc, 16, wmma::mem_row_major);
}

// float matrices in tf32, each warp a tile of 16 by 16.
__global__ void gemm_tf32(const float *a, const float *b, float *c, int m, int n, int k)
{
    const int tile = (blockIdx.x * blockDim.x + threadIdx.x) / 32, tiles_n = n / 16;
    const int row = tile / tiles_n * 16, col = tile % tiles_n * 16;
    if (row >= m) return;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> acc;
    wmma::fill_fragment(acc, 0.0f);
    for (int i = 0; i < k; i += 8) {
        wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
        wmma::load_matrix_sync(fa, a + row * k + i, k);
        wmma::load_matrix_sync(fb, b + i * n + col, n);
#pragma unroll
        for (int t = 0; t < fa.num_elements; ++t) fa.x[t] = wmma::__float_to_tf32(fa.x[t]);
#pragma unroll
        for (int t = 0; t < fb.num_elements; ++t) fb.x[t] = wmma::__float_to_tf32(fb.x[t]);
        wmma::mma_sync(acc, fa, fb, acc);
    }
    wmma::store_matrix_sync(c + row * n + col, acc, n, wmma::mem_row_major);
}

// C += A^T A in double: a Gram matrix, whose factor is loaded twice.
__global__ void gram_double(const double *a, double *c, int rows, int columns)
{
    const int i = blockIdx.x * 8, j = blockIdx.y * 8;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> acc;
    wmma::load_matrix_sync(acc, c + i * columns + j, columns, wmma::mem_row_major);
    for (int k = 0; k < rows; k += 4) {
        wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::col_major> left;
        wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> right;
        wmma::load_matrix_sync(left, a + k * columns + i, columns);
        wmma::load_matrix_sync(right, a + k * columns + j, columns);
        wmma::mma_sync(acc, left, right, acc);
    }
    wmma::store_matrix_sync(c + i * columns + j, acc, columns, wmma::mem_row_major);
}

// A convolution of 3 by 3 over 16 channels without unrolling the image in memory: for each of the nine offsets, pixels
// by channels in shared memory times channels by filters. Sums in half, in long tiles.
__global__ void implicit_convolution(const half *image, const half *filters, half *out, int width, int height)
{
    __shared__ half patch[32][16];
    const int first = blockIdx.x * 32;
    wmma::fragment<wmma::accumulator, 32, 8, 16, half> sums;
    wmma::fill_fragment(sums, __float2half(0.0f));
    for (int offset = 0; offset < 9; ++offset) {
        const int dx = offset % 3 - 1, dy = offset / 3 - 1;
        const int pixel = first + threadIdx.x, x = pixel % width + dx, y = pixel / width + dy;
        const bool inside = x >= 0 && x < width && y >= 0 && y < height;
        for (int c = 0; c < 16; ++c)
            patch[threadIdx.x][c] = inside ? image[(y * width + x) * 16 + c] : __float2half(0.0f);
        __syncwarp();
        wmma::fragment<wmma::matrix_a, 32, 8, 16, half, wmma::row_major> pixels;
        wmma::fragment<wmma::matrix_b, 32, 8, 16, half, wmma::row_major> taps;
        wmma::load_matrix_sync(pixels, &patch[0][0], 16);
        wmma::load_matrix_sync(taps, filters + offset * 16 * 8, 8);
        wmma::mma_sync(sums, pixels, taps, sums);
        __syncwarp();
    }
    for (int i = 0; i < sums.num_elements; ++i)
        sums.x[i] = __hmax(sums.x[i], __hmul(__float2half(0.125f), sums.x[i])); // a leaky rectifier
    wmma::store_matrix_sync(out + first * 8, sums, 8, wmma::mem_row_major);
}

// Fragments scaled in registers, and wide tiles: y = (s A) B, where s is one number a launch.
__global__ void scaled_wide(const half *a, const half *b, float *y, float s)
{
    wmma::fragment<wmma::matrix_a, 8, 32, 16, half, wmma::col_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 32, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 32, 16, float> acc;
    wmma::load_matrix_sync(fa, a + blockIdx.x * 128, 8);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::fill_fragment(acc, 0.0f);
    for (int i = 0; i < fa.num_elements; ++i)
        fa.x[i] = __float2half(s * __half2float(fa.x[i]));
    wmma::mma_sync(acc, fa, fb, acc);
    wmma::store_matrix_sync(y + blockIdx.x * 256, acc, 32, wmma::mem_row_major);
}
