// Loops in which something changes behind the first iteration alone, and loops of two iterations, which the optimiser
// makes such loops of.

// The trapezoidal rule: the first point has half the weight of those that follow.
__global__ void trapezoids(int n, int points, const float *x, float step, float *area)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float weight = 0.5f, sum = 0.0f;
    for (int k = 0; k < points; ++k) {
        float at = x[i] + k * step;
        sum += weight * at * at * x[(i + k) % n];
        weight = 1.0f;
    }
    area[i] = sum;
}

// An average that begins with the first number.
__global__ void smoothed(int n, int points, const float *x, float keep, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    bool first = true;
    float average = 0.0f;
    for (int k = i % 3; k < points; k += 2) {
        float next = x[(i * points + k) % n];
        average = first ? next * next : keep * average + (1.0f - keep) * next * average;
        first = false;
    }
    out[i] = average;
}

// Both neighbours of a pixel, to the right and below, exchange what differs, where they differ enough.
__global__ void edges(int width, int height, int channels, const float *colour, const float *depth, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = threadIdx.y;
    if (x >= width || y >= height)
        return;
    int here = y * width + x;
    for (int direction = 0; direction < 2; ++direction) {
        if (direction ? y + 1 >= height : x + 1 >= width)
            continue;
        int there = here + (direction ? width : 1);
        float near = depth[here] - depth[there];
        if (near < 0.2f)
            continue;
        float alpha = 0.5f - 0.1f * near * near / (1.0f + direction);
        for (int c = 0; c < channels; ++c)
            atomicAdd(out + here * channels + c, alpha * (colour[there * channels + c] - colour[here * channels + c]));
    }
}
