// What three loops in each other move on together, a pointer or an integer.
__global__ void unfolded(const float *volume, int depth, int height, int width, int kernel, float *columns) {
    int site = blockIdx.x * blockDim.x + threadIdx.x, sites = depth * height * width;
    if (site >= sites) return;
    int x = site % width - kernel / 2, y = site / width % height - kernel / 2, z = site / (width * height) - kernel / 2;
    float *column = columns + site;
    for (int i = 0; i < kernel; ++i)
        for (int j = 0; j < kernel; ++j)
            for (int k = 0; k < kernel; ++k) {
                bool inside = z + i >= 0 && y + j >= 0 && x + k >= 0 && z + i < depth && y + j < height && x + k < width;
                *column = inside ? volume[((z + i) * height + y + j) * width + x + k] : 0.f;
                column += sites;
            }
}

__global__ void weighed(const float *volume, const float *weights, int depth, int height, int width, float *sums) {
    int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel >= 3 || depth < 1 || height < 1 || width < 1) return;
    int at = channel;
    float sum = 0;
    for (int z = 0; z < depth; ++z)
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                sum = sum * 0.5f + volume[at] * weights[x];
                at += 3;
            }
    sums[channel] = sum;
}
