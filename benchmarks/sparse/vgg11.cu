// The first operators of VGG-11 on one image, a thread for each number of the output: channels, rows, columns.

// 3 x 3, padding 1; weight[output channel][input channel][3][3].
__global__ void convolution(const float *image, const float *weight, const float *bias, float *y, int channels, int filters,
                            int height, int width) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= filters * height * width) return;
  int column = at % width, row = at / width % height, filter = at / (width * height);
  float sum = bias[filter];
  for (int channel = 0; channel < channels; channel++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        int r = row + i - 1, c = column + j - 1;
        if (r >= 0 && r < height && c >= 0 && c < width)
          sum += weight[((filter * channels + channel) * 3 + i) * 3 + j] * image[(channel * height + r) * width + c];
      }
  y[at] = sum;
}

__global__ void relu(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

// 2 x 2, stride 2.
__global__ void max_pool(const float *x, float *y, int channels, int height, int width) {
  int at = blockIdx.x * blockDim.x + threadIdx.x, columns = width / 2, rows = height / 2;
  if (at >= channels * rows * columns) return;
  int column = at % columns, row = at / columns % rows, channel = at / (columns * rows);
  const float *corner = x + (channel * height + 2 * row) * width + 2 * column;
  y[at] = fmaxf(fmaxf(corner[0], corner[1]), fmaxf(corner[width], corner[width + 1]));
}
