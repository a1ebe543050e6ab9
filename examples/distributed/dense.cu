// A layer of a network: a thread for each row of x and each output, weights [inputs, outputs].
__global__ void dense(const double *x, const double *weights, const double *biases, double *y, int rows, int inputs,
                      int outputs)
{
    const int output = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || output >= outputs)
        return;
    double sum = biases[output];
    for (int input = 0; input < inputs; ++input)
        sum += x[row * inputs + input] * weights[input * outputs + output];
    y[row * outputs + output] = tanh(sum);
}
