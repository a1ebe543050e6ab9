// Batched small dense problems, each in registers of a thread: Cholesky solve, log determinant, 3x3 QR (Gram-Schmidt).
#include <cstdio>
#include <utility>
#include <cuda_runtime.h>

namespace batched {

template <typename T, int N>
struct Matrix {
    T data[N][N];

    __device__ static Matrix load(const T *from)
    {
        Matrix m;
#pragma unroll
        for (int i = 0; i < N * N; ++i)
            m.data[i / N][i % N] = from[i];
        return m;
    }
    __device__ T *operator[](int row) { return data[row]; }
    __device__ const T *operator[](int row) const { return data[row]; }
};

template <typename T, int N>
__device__ bool cholesky(Matrix<T, N> &a)
{
    for (int j = 0; j < N; ++j) {
        T d = a[j][j];
        for (int k = 0; k < j; ++k)
            d -= a[j][k] * a[j][k];
        if (d <= T(0))
            return false;
        a[j][j] = sqrt(d);
        for (int i = j + 1; i < N; ++i) {
            T s = a[i][j];
            for (int k = 0; k < j; ++k)
                s -= a[i][k] * a[j][k];
            a[i][j] = s / a[j][j];
        }
    }
    return true;
}

template <typename T, int N>
__global__ void solve_spd(const T *matrices, const T *rhs, T *solutions, T *logdet, bool *ok, int batch)
{
    const int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch) return;
    auto a = Matrix<T, N>::load(matrices + b * N * N);
    ok[b] = cholesky(a);
    if (!ok[b]) {
        logdet[b] = T(0);
        return;
    }
    T y[N], sum = 0;
    for (int i = 0; i < N; ++i) {
        y[i] = rhs[b * N + i];
        for (int k = 0; k < i; ++k)
            y[i] -= a[i][k] * y[k];
        y[i] /= a[i][i];
        sum += log(a[i][i]);
    }
    for (int i = N - 1; i >= 0; --i) {
        for (int k = i + 1; k < N; ++k)
            y[i] -= a[k][i] * y[k];
        y[i] /= a[i][i];
        solutions[b * N + i] = y[i];
    }
    logdet[b] = 2 * sum;
}

template <typename T>
__device__ T dot3(const T *a, const T *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

template <typename T>
__global__ void qr3(const T *in, T *q, T *r, int batch)
{
    const int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch) return;
    in += 9 * b;
    q += 9 * b;
    r += 9 * b;
    T column[3][3];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            column[j][i] = in[3 * i + j];
    for (int j = 0; j < 3; ++j) {
        for (int k = 0; k < 3; ++k)
            r[3 * k + j] = 0;
        for (int k = 0; k < j; ++k) {
            const T p = dot3(column[k], column[j]);
            r[3 * k + j] = p;
            for (int i = 0; i < 3; ++i)
                column[j][i] -= p * column[k][i];
        }
        const T norm = sqrt(dot3(column[j], column[j]));
        r[3 * j + j] = norm;
        for (T &x : column[j])
            x /= norm;
    }
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            q[3 * i + j] = column[j][i];
}

} // namespace batched

int main()
{
    const int batch = 64;
    float *a, *rhs, *x, *logdet;
    bool *ok;
    cudaMallocManaged(&a, batch * 16 * sizeof(float));
    cudaMallocManaged(&rhs, batch * 4 * sizeof(float));
    cudaMallocManaged(&x, batch * 4 * sizeof(float));
    cudaMallocManaged(&logdet, batch * sizeof(float));
    cudaMallocManaged(&ok, batch);
    for (int i = 0; i < batch * 16; ++i)
        a[i] = (i % 16) % 5 == 0 ? 4.f : 1.f;
    for (int i = 0; i < batch * 4; ++i)
        rhs[i] = 1.f;
    batched::solve_spd<float, 4><<<1, batch>>>(a, rhs, x, logdet, ok, batch);
    batched::qr3<<<1, 1>>>(a, x, logdet, 1);
    cudaDeviceSynchronize();
    std::printf("%f %f\n", x[0], logdet[0]);
    return 0;
}
