// A fully connected layer with noise: out = activation(x theta + bias + sigma * noise), and the likelihood-ratio estimate of its gradient.
// The last row of `theta` is the bias. Row r of the result comes from row r % x_rows of x. Blocks of 16 x 16 threads, four by four
// elements for each.
#include "noise.cuh"

constexpr int EDGE = 64, DEPTH = 16, PER = 4, ACROSS = EDGE / PER;

enum Activation { LINEAR, RELU, TANH };

template <int ACTIVATION, typename T>
__device__ T activated(T z)
{
    return ACTIVATION == RELU ? (z > 0 ? z : T(0)) : ACTIVATION == TANH ? tanh(z) : z;
}

template <typename T>
__device__ void multiply_tiles(T (&sum)[PER][PER], const T (*left)[EDGE + PER], const T (*right)[EDGE + PER])
{
#pragma unroll
    for (int depth = 0; depth < DEPTH; depth++)
#pragma unroll
        for (int i = 0; i < PER; i++)
#pragma unroll
            for (int j = 0; j < PER; j++)
                sum[i][j] += left[depth][threadIdx.y * PER + i] * right[depth][threadIdx.x * PER + j];
}

// Grid: (outputs / 64, rows / 64), rounded up.
template <typename T, int ACTIVATION>
__global__ void __launch_bounds__(256) dense(const T *__restrict__ x, const T *__restrict__ theta, T *__restrict__ out, int rows, int x_rows,
                                             int inputs, int outputs, T sigma, const unsigned *__restrict__ seed, unsigned stream, unsigned first_row,
    unsigned samples, int kind, unsigned step_rows, unsigned all_step_rows)
{
    Draw draw = {*seed, stream, first_row, samples, kind, step_rows, all_step_rows};
    __shared__ T left[DEPTH][EDGE + PER], right[DEPTH][EDGE + PER];
    int self = threadIdx.y * ACROSS + threadIdx.x, top = blockIdx.y * EDGE, begin = blockIdx.x * EDGE;
    T sum[PER][PER] = {};
    for (int first = 0; first < inputs; first += DEPTH) {
#pragma unroll
        for (int i = 0; i < PER; i++) {
            int at = self + i * 256, row = top + at / DEPTH, depth = first + at % DEPTH;
            left[at % DEPTH][at / DEPTH] = row < rows && depth < inputs ? x[row % x_rows * inputs + depth] : T(0);
            int column = begin + at % EDGE, below = first + at / EDGE;
            right[at / EDGE][at % EDGE] = column < outputs && below < inputs ? theta[below * outputs + column] : T(0);
        }
        __syncthreads();
        multiply_tiles(sum, left, right);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < PER; i++) {
        int row = top + threadIdx.y * PER + i, quad = begin / PER + threadIdx.x;
        if (row >= rows)
            return;
        Four<T> drawn = {};
        if (sigma > 0)
            drawn = noise<T>(draw, row, quad);
#pragma unroll
        for (int j = 0; j < PER; j++)
            if (quad * PER + j < outputs)
                out[row * outputs + quad * PER + j] =
                    activated<ACTIVATION>(sum[i][j] + theta[inputs * outputs + quad * PER + j] + sigma * drawn.value[j]);
    }
}

// gradient[i][j] += sum over rows of weight[row] * noise(row, j) * x[row % x_rows][i]; the last row, the bias's, has 1 in place of x.
// Grid: (outputs / 64, (inputs + 1) / 64, shares of the rows).
template <typename T>
__global__ void __launch_bounds__(256) score(const T *__restrict__ x, const T *__restrict__ weight, T *__restrict__ gradient, int rows, int x_rows,
                                             int inputs, int outputs, const unsigned *__restrict__ seed, unsigned stream, unsigned first_row,
    unsigned samples, int kind, unsigned step_rows, unsigned all_step_rows)
{
    Draw draw = {*seed, stream, first_row, samples, kind, step_rows, all_step_rows};
    __shared__ T left[DEPTH][EDGE + PER], right[DEPTH][EDGE + PER];
    int self = threadIdx.y * ACROSS + threadIdx.x, top = blockIdx.y * EDGE, begin = blockIdx.x * EDGE;
    T sum[PER][PER] = {};
    for (int first = blockIdx.z * DEPTH; first < rows; first += gridDim.z * DEPTH) {
#pragma unroll
        for (int i = 0; i < PER; i++) {
            int at = self + i * 256, row = first + at / EDGE, input = top + at % EDGE;
            left[at / EDGE][at % EDGE] =
                row < rows && input <= inputs ? (input < inputs ? x[(row / step_rows * x_rows + row % x_rows) * inputs + input] : T(1)) : T(0);
        }
        int row = first + self / ACROSS;
        Four<T> drawn = {};
        T scale = row < rows ? weight[row] : T(0);
        if (scale != 0)
            drawn = scored<T>(draw, row, begin / PER + self % ACROSS);
#pragma unroll
        for (int j = 0; j < PER; j++)
            right[self / ACROSS][self % ACROSS * PER + j] = scale * drawn.value[j];
        __syncthreads();
        multiply_tiles(sum, left, right);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < PER; i++)
#pragma unroll
        for (int j = 0; j < PER; j++) {
            int input = top + threadIdx.y * PER + i, output = begin + threadIdx.x * PER + j;
            if (input <= inputs && output < outputs)
                atomicAdd(&gradient[input * outputs + output], sum[i][j]);
        }
}

// The noise itself, weighted by row and summed over copies: cotangent[sample][j] += sum of weight[row] * noise(row, j). One thread for four
// columns. Grid: (outputs / 4 / 64, samples), rounded up; 64 threads.
template <typename T>
__global__ void score_cotangent(const T *__restrict__ weight, T *__restrict__ cotangent, int rows, int outputs, const unsigned *__restrict__ seed, unsigned stream, unsigned first_row,
    unsigned samples, int kind, unsigned step_rows, unsigned all_step_rows)
{
    Draw draw = {*seed, stream, first_row, samples, kind, step_rows, all_step_rows};
    int quad = blockIdx.x * blockDim.x + threadIdx.x;
    if (quad * PER >= outputs)
        return;
    Four<T> sum = {};
    for (int row = blockIdx.y; row < rows; row += samples) {
        Four<T> drawn = scored<T>(draw, row, quad);
        for (int j = 0; j < PER; j++)
            sum.value[j] += weight[row] * drawn.value[j];
    }
    for (int j = 0; j < PER; j++)
        if (quad * PER + j < outputs)
            cotangent[blockIdx.y * outputs + quad * PER + j] += sum.value[j];
}

// out[row][j] = activation(z[row % samples][j] + sigma * noise(row, j)). One thread for four columns. Grid: (rows, outputs / 4 / 64), rounded up;
// 64 threads.
template <typename T, int ACTIVATION>
__global__ void perturb(const T *__restrict__ z, T *__restrict__ out, int rows, int outputs, T sigma, const unsigned *__restrict__ seed, unsigned stream, unsigned first_row,
    unsigned samples, int kind, unsigned step_rows, unsigned all_step_rows)
{
    Draw draw = {*seed, stream, first_row, samples, kind, step_rows, all_step_rows};
    int quad = blockIdx.y * blockDim.x + threadIdx.x, row = blockIdx.x;
    if (quad * PER >= outputs)
        return;
    Four<T> drawn = noise<T>(draw, row, quad);
    for (int j = 0; j < PER; j++)
        if (quad * PER + j < outputs)
            out[row * outputs + quad * PER + j] =
                activated<ACTIVATION>(z[row % samples * outputs + quad * PER + j] + sigma * drawn.value[j]);
}
