// A recurrent cell over a sequence: h' = tanh(u + v), u = h theta_h + bias + noise, v = x theta_x + bias + noise, as in "One Forward is Enough
// for Neural Network Training via Likelihood Ratio Method" (arXiv 2305.08960), with fresh noise for both in every step.
// x is (all steps, samples, inputs), states (steps + 1, rows, hidden), of which the first are given. One row of a block's threads is
// one row of the batch, with a thread for each hidden unit. Where `segmented`, row / samples is the segment of the sequence that
// the row computes, else the copy. The first `clean` rows have no noise. With `cut` the others have it only in the states after
// every so many steps.
#include "noise.cuh"

constexpr unsigned FIRST_CUT = 3; // of the streams of noise

template <typename T>
__device__ T one_of(const Draw &draw, unsigned row, unsigned column)
{
    Four<T> four = noise<T>(draw, row, column / 4);
    return column % 4 == 0 ? four.value[0] : column % 4 == 1 ? four.value[1] : column % 4 == 2 ? four.value[2] : four.value[3];
}

template <typename T>
__global__ void recurrent(const T *__restrict__ x, const T *__restrict__ theta_h, const T *__restrict__ theta_x, T *__restrict__ states, int rows,
                          int samples, int steps, int inputs, int hidden, int segmented, T sigma, const unsigned *__restrict__ seed,
                          unsigned first_row, int kind, unsigned all_step_rows, int clean, int cut)
{
    extern __shared__ unsigned char memory[];
    T *now = reinterpret_cast<T *>(memory) + threadIdx.y * hidden;
    int row = blockIdx.x * blockDim.y + threadIdx.y, unit = threadIdx.x;
    bool inside = row < rows;
    int sample = row % samples, first = segmented ? row / samples * steps : 0;
    unsigned noisy_rows = rows - clean, noisy_row = row - clean;
    Draw of_h = {*seed, 0, first_row, unsigned(samples), kind, noisy_rows, all_step_rows}, of_x = of_h, of_cut = of_h;
    of_x.stream = 1;
    bool noisy = sigma > 0 && row >= clean;
    T h = inside ? states[row * hidden + unit] : T(0);
    for (int step = 0; step < steps; step++) {
        now[unit] = h;
        __syncthreads();
        if (inside) {
            T sum = theta_h[hidden * hidden + unit] + theta_x[inputs * hidden + unit];
            for (int i = 0; i < hidden; i++)
                sum += now[i] * theta_h[i * hidden + unit];
            const T *input = x + ((first + step) * samples + sample) * inputs;
            for (int i = 0; i < inputs; i++)
                sum += input[i] * theta_x[i * hidden + unit];
            if (noisy && !cut) {
                unsigned drawn = step * noisy_rows + noisy_row;
                sum += sigma * (one_of<T>(of_h, drawn, unit) + one_of<T>(of_x, drawn, unit));
            }
            h = tanh(sum);
            if (noisy && cut && (step + 1) % cut == 0 && step + 1 < steps) {
                of_cut.stream = FIRST_CUT + step / cut;
                h += sigma * one_of<T>(of_cut, noisy_row, unit);
            }
            states[((step + 1) * rows + row) * hidden + unit] = h;
        }
        __syncthreads();
    }
}
