// One backward step of Longstaff-Schwartz: normal equations of the regression by atomics, then the continuation value.
#include <cstdio>
#include <functional>
#include <cuda_runtime.h>

constexpr int BASIS = 3;

struct Basis {
    double f[BASIS];
    __device__ Basis(double x) : f{1.0, x, x * x} {}
};

enum OptionType { CALL = 1, PUT = -1 };

template <OptionType Type>
__device__ double intrinsic(double s, double k) { return fmax(static_cast<int>(Type) * (s - k), 0.0); }

template <OptionType Type>
__global__ void regression(const double *spots, const double *cash, double *matrix, double *rhs, double strike,
                           double discount, int paths)
{
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < paths; p += blockDim.x * gridDim.x) {
        if (intrinsic<Type>(spots[p], strike) <= 0.0)
            continue;
        const Basis b(spots[p] / strike);
        const double y = discount * cash[p];
        for (int i = 0; i < BASIS; ++i) {
            for (int j = 0; j <= i; ++j)
                atomicAdd(&matrix[i * BASIS + j], b.f[i] * b.f[j]);
            atomicAdd(&rhs[i], b.f[i] * y);
        }
    }
}

template <OptionType Type>
__global__ void exercise(const double *spots, const double *coefficients, double *cash, double strike, double discount,
                         int paths)
{
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= paths)
        return;
    double held = discount * cash[p];
    const double now = intrinsic<Type>(spots[p], strike);
    if (now > 0.0) {
        const Basis b(spots[p] / strike);
        double continuation = 0.0;
        for (int i = 0; i < BASIS; ++i)
            continuation += coefficients[i] * b.f[i];
        if (now > continuation)
            held = now;
    }
    cash[p] = held;
}

int main()
{
    const int paths = 1000;
    double *spots, *cash, *matrix, *rhs;
    cudaMallocManaged(&spots, paths * sizeof(double));
    cudaMallocManaged(&cash, paths * sizeof(double));
    cudaMallocManaged(&matrix, 9 * sizeof(double));
    cudaMallocManaged(&rhs, 3 * sizeof(double));
    for (int i = 0; i < paths; ++i) {
        spots[i] = 80.0 + 0.04 * i;
        cash[i] = 5.0;
    }
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    regression<PUT><<<8, 64, 0, s>>>(spots, cash, matrix, rhs, 100.0, 0.99, paths);
    exercise<PUT><<<16, 64, 0, s>>>(spots, rhs, cash, 100.0, 0.99, paths);
    cudaStreamSynchronize(s);
    cudaStreamDestroy(s);
    std::printf("%f %f\n", matrix[0], cash[0]);
}
