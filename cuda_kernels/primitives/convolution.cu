// A convolution with zeros around the image: out = activation(neighbourhoods theta + bias), in any precision, computed
// in float or in double. Images lie as (number, row, column, channel), the rows of theta as (row, column, channel) of
// the neighbourhood, and the last is the bias. convolution_tensor.cu is the form on Tensor Cores. Grid: blocks of
// threads for all pixels' filters, rounded up, one thread for each.
#include "elementwise.cu"

template <typename T, int EDGE, int ACTIVATION>
__global__ void convolution(const T *__restrict__ image, const T *__restrict__ theta, T *__restrict__ out, int images,
                            int height, int width, int channels, int filters)
{
    using Number = typename Computed<T>::Type;
    int self = blockIdx.x * blockDim.x + threadIdx.x, filter = self % filters, pixel = self / filters;
    if (pixel >= images * height * width)
        return;
    int column = pixel % width, row = pixel / width % height, first = pixel - row * width - column;
    Number sum = theta[EDGE * EDGE * channels * filters + filter];
    for (int y = 0; y < EDGE; y++)
        for (int x = 0; x < EDGE; x++) {
            int from_row = row + y - EDGE / 2, from_column = column + x - EDGE / 2;
            if (from_row < 0 || from_row >= height || from_column < 0 || from_column >= width)
                continue;
            const T *from = image + (first + from_row * width + from_column) * channels;
            const T *weight = theta + (y * EDGE + x) * channels * filters + filter;
            for (int i = 0; i < channels; i++)
                sum += Number(from[i]) * Number(weight[i * filters]);
        }
    out[self] = T(activated<ACTIVATION>(sum));
}
