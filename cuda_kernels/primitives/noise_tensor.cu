// dense.cu's layer with noise and the estimate of its gradient on Tensor Cores: factors are rounded to half,
// __nv_bfloat16 or tf32 (float) as they are copied, sums are float. Blocks of 128 threads compute 64 x 64 elements.
#include "noise.cuh"
#include "tensor_tile.cuh"

constexpr int EDGE = 64, DEPTH = 32, STAGES = 2;

template <typename T, bool TURNED>
using Work = Tile<T, EDGE, EDGE, DEPTH, STAGES, 2, 2, TURNED, false, false>;

// Where a factor is read next, pack by pack; Of says what its elements are.
template <typename T, class Of>
struct Elements {
    Of of;
    int row, column;

    template <bool VECTORS>
    __device__ void copy(T *to, int below) const
    {
        of.copy(to, row + below, column);
    }
    __device__ void down(int by) { row += by; }
    __device__ void right(int by) { column += by; }
};

// Inputs of a layer with a last column of ones, which the bias is a factor of. Row r belongs to step r / step_rows of a
// sequence, whose steps have x_rows samples that all copies share.
template <typename T>
struct Inputs {
    const float *data;
    int rows, columns, x_rows, step_rows, first;

    __device__ void copy(T *to, int row, int column) const
    {
        const float *from = data + size_t(row / step_rows * x_rows + row % x_rows) * columns + column;
#pragma unroll
        for (int i = 0; i < int(16 / sizeof(T)); i++)
            to[i] = T(row >= rows ? 0.0f : column + i < columns ? from[i] : column + i == columns ? 1.0f : 0.0f);
    }
    __device__ Elements<T, Inputs> place(int row, int column) const { return {*this, first + row, column}; }
};

template <typename T>
struct Weights {
    const float *data;
    int rows, columns;

    __device__ void copy(T *to, int row, int column) const
    {
        const float *from = data + size_t(row) * columns + column;
#pragma unroll
        for (int i = 0; i < int(16 / sizeof(T)); i++)
            to[i] = T(row < rows && column + i < columns ? from[i] : 0.0f);
    }
    __device__ Elements<T, Weights> place(int row, int column) const { return {*this, row, column}; }
};

// weight[row] * noise(row, column), drawn again.
template <typename T>
struct Scores {
    const float *weight;
    Draw draw;
    int rows, first;

    __device__ void copy(T *to, int row, int column) const
    {
        float scale = row < rows ? weight[row] : 0.0f;
#pragma unroll
        for (int quad = 0; quad < int(4 / sizeof(T)); quad++) {
            Four<float> drawn = {};
            if (scale != 0)
                drawn = scored<float>(draw, row, column / 4 + quad);
#pragma unroll
            for (int i = 0; i < 4; i++)
                to[4 * quad + i] = T(scale * drawn.value[i]);
        }
    }
    __device__ Elements<T, Scores> place(int row, int column) const { return {*this, first + row, column}; }
};

// As dense in dense.cu; the bias is rounded as well.
template <typename T, int ACTIVATION>
__global__ void __launch_bounds__(128)
    dense_noise_tensor(const float *__restrict__ x, const float *__restrict__ theta, float *__restrict__ out, int rows,
                       int x_rows, int inputs, int outputs, float sigma, const unsigned *__restrict__ seed,
                       unsigned stream, unsigned first_row, unsigned samples, int kind, unsigned step_rows,
                       unsigned all_step_rows)
{
    __shared__ __align__(16) T memory[Work<T, false>::bytes / sizeof(T)];
    Draw draw = {*seed, stream, first_row, samples, kind, step_rows, all_step_rows};
    int top = blockIdx.y * EDGE, begin = blockIdx.x * EDGE;
    Work<T, false> work;
    work.run(memory, Inputs<T>{x, rows, inputs, x_rows, rows, 0}, Weights<T>{theta, inputs + 1, outputs}, top, begin,
             inputs + 1);
    work.for_each_pair(top, begin, [&](int row, int column, float first, float second) {
        if (row >= rows || column >= outputs)
            return;
        Four<float> drawn = {};
        if (sigma > 0)
            drawn = noise<float>(draw, row, column / 4);
        bool high = column % 4;
        float *to = out + size_t(row) * outputs + column;
        to[0] = activated<ACTIVATION>(first + sigma * (high ? drawn.value[2] : drawn.value[0]));
        if (column + 1 < outputs)
            to[1] = activated<ACTIVATION>(second + sigma * (high ? drawn.value[3] : drawn.value[1]));
    });
}

// As score in dense.cu, as one product of the inputs, transposed, and the weighted noise.
template <typename T>
__global__ void __launch_bounds__(128)
    score_tensor(const float *__restrict__ x, const float *__restrict__ weight, float *__restrict__ gradient, int rows,
                 int x_rows, int inputs, int outputs, const unsigned *__restrict__ seed, unsigned stream,
                 unsigned first_row, unsigned samples, int kind, unsigned step_rows, unsigned all_step_rows)
{
    __shared__ __align__(16) T memory[Work<T, true>::bytes / sizeof(T)];
    Draw draw = {*seed, stream, first_row, samples, kind, step_rows, all_step_rows};
    int top = blockIdx.y * EDGE, begin = blockIdx.x * EDGE, share = (rows + gridDim.z - 1) / gridDim.z,
        first = blockIdx.z * share;
    int end = min(rows, first + share);
    Work<T, true> work;
    work.run(memory, Inputs<T>{x, end, inputs, x_rows, int(step_rows), first}, Scores<T>{weight, draw, end, first}, top,
             begin, end - first);
    work.for_each_pair(top, begin, [&](int input, int output, float one, float two) {
        if (input <= inputs && output < outputs)
            atomicAdd(&gradient[size_t(input) * outputs + output], one);
        if (input <= inputs && output + 1 < outputs)
            atomicAdd(&gradient[size_t(input) * outputs + output + 1], two);
    });
}
