// A local linear trend model: a Kalman filter for each series, log likelihood out. Two-by-two matrices by hand.
#include <cassert>
#include <cmath>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

template <class T>
class Mat2 {
    T a_[4];

public:
    __device__ Mat2() : a_{} {}
    __device__ Mat2(T a, T b, T c, T d) : a_{a, b, c, d} {}
    __device__ T &operator()(int i, int j) { return a_[2 * i + j]; }
    __device__ T operator()(int i, int j) const { return a_[2 * i + j]; }
    __device__ Mat2 transposed() const { return Mat2(a_[0], a_[2], a_[1], a_[3]); }

    __device__ friend Mat2 operator*(const Mat2 &x, const Mat2 &y)
    {
        Mat2 r;
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j)
                for (int k = 0; k < 2; ++k)
                    r(i, j) += x(i, k) * y(k, j);
        return r;
    }
    __device__ Mat2 &operator+=(const Mat2 &o)
    {
        for (int i = 0; i < 4; ++i)
            a_[i] += o.a_[i];
        return *this;
    }
};

struct Noise {
    double level, slope, measurement;
};

__global__ void filter(const double *series, const Noise *noise, double *log_likelihood, double *final_level,
                       int n_series, int length)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= n_series)
        return;
    const double *y = &series[s * length];
    const Noise q = noise[s];
    assert(q.measurement > 0.0);
    const Mat2<double> transition(1.0, 1.0, 0.0, 1.0);
    Mat2<double> p(10.0, 0.0, 0.0, 1.0);
    double level = y[0], slope = 0.0, ll = 0.0;
    for (int t = 1; t < length; ++t) {
        level += slope;
        p = transition * p * transition.transposed();
        p += Mat2<double>(q.level * q.level, 0.0, 0.0, q.slope * q.slope);
        const double variance = p(0, 0) + q.measurement * q.measurement;
        const double surprise = y[t] - level;
        ll -= 0.5 * (log(2.0 * 3.14159265358979 * variance) + surprise * surprise / variance);
        const double gain0 = p(0, 0) / variance, gain1 = p(1, 0) / variance;
        level += gain0 * surprise;
        slope += gain1 * surprise;
        const Mat2<double> keep(1.0 - gain0, 0.0, -gain1, 1.0);
        p = keep * p;
    }
    if (!isfinite(ll))
        printf("series %d diverged\n", s);
    log_likelihood[s] = ll;
    final_level[s] = level;
}

int main()
{
    const int n = 32, length = 100;
    std::vector<double> y(n * length);
    std::vector<Noise> noise(n, Noise{0.5, 0.1, 1.0});
    for (size_t i = 0; i < y.size(); ++i)
        y[i] = std::sin(0.05 * (i % length));
    double *d_y, *d_ll, *d_level;
    Noise *d_noise;
    cudaMalloc(&d_y, y.size() * sizeof(double));
    cudaMalloc(&d_ll, n * sizeof(double));
    cudaMalloc(&d_level, n * sizeof(double));
    cudaMalloc(&d_noise, n * sizeof(Noise));
    cudaMemcpy(d_y, y.data(), y.size() * sizeof(double), cudaMemcpyHostToDevice);
    cudaMemcpy(d_noise, noise.data(), n * sizeof(Noise), cudaMemcpyHostToDevice);
    filter<<<1, n>>>(d_y, d_noise, d_ll, d_level, n, length);
    std::vector<double> ll(n);
    cudaMemcpy(ll.data(), d_ll, n * sizeof(double), cudaMemcpyDeviceToHost);
    std::printf("%f\n", ll[0]);
    return 0;
}
