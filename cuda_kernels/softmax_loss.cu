// Cross entropy of a softmax, one thread a row: a maximum, a sum, a logarithm.
__global__ void cross_entropy(const float *logits, const int *label, float *loss, int rows, int classes) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float *row = logits + (size_t)r * classes;
    float top = row[0];
    for (int c = 1; c < classes; c++)
        if (row[c] > top) top = row[c];
    float sum = 0.0f;
    for (int c = 0; c < classes; c++) sum += expf(row[c] - top);
    loss[r] = logf(sum) + top - row[label[r]];
}
