// Losses of rows.

// loss[row] = -log softmax(logits[row])[label[row % samples]]. One thread a row.
template <typename T>
__global__ void cross_entropy(const T *__restrict__ logits, const int *__restrict__ label, T *__restrict__ loss, int rows, int classes, int samples)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const T *own = logits + row * classes;
    T most = own[0];
    for (int i = 1; i < classes; i++)
        most = own[i] > most ? own[i] : most;
    T sum = 0;
    for (int i = 0; i < classes; i++)
        sum += exp(own[i] - most);
    loss[row] = log(sum) + most - own[label[row % samples]];
}
