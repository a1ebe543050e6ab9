// Extended Kalman filters for many targets seen by a radar: small matrices as a template class with operators,
// coordinated-turn motion, range and bearing measurements with gaps, Joseph form, gating of outliers.
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <vector>
#include <cuda_runtime.h>

template <typename T, int R, int C>
class Matrix {
public:
    __host__ __device__ Matrix() {}
    __host__ __device__ explicit Matrix(T fill)
    {
        for (int i = 0; i < R * C; ++i) data_[i] = fill;
    }
    __host__ __device__ static Matrix identity(T scale = T(1))
    {
        Matrix m(T(0));
        for (int i = 0; i < (R < C ? R : C); ++i) m(i, i) = scale;
        return m;
    }
    __host__ __device__ T &operator()(int r, int c = 0) { return data_[r * C + c]; }
    __host__ __device__ const T &operator()(int r, int c = 0) const { return data_[r * C + c]; }
    __host__ __device__ Matrix<T, C, R> transpose() const
    {
        Matrix<T, C, R> t;
        for (int i = 0; i < R; ++i)
            for (int j = 0; j < C; ++j) t(j, i) = (*this)(i, j);
        return t;
    }
    __host__ __device__ Matrix &operator+=(const Matrix &o)
    {
        for (int i = 0; i < R * C; ++i) data_[i] += o.data_[i];
        return *this;
    }
    friend __host__ __device__ Matrix operator+(Matrix a, const Matrix &b) { return a += b; }
    friend __host__ __device__ Matrix operator-(Matrix a, const Matrix &b)
    {
        for (int i = 0; i < R * C; ++i) a.data_[i] -= b.data_[i];
        return a;
    }

private:
    T data_[R * C];
};

template <typename T, int R, int K, int C>
__host__ __device__ Matrix<T, R, C> operator*(const Matrix<T, R, K> &a, const Matrix<T, K, C> &b)
{
    Matrix<T, R, C> m(T(0));
    for (int i = 0; i < R; ++i)
        for (int k = 0; k < K; ++k)
            for (int j = 0; j < C; ++j) m(i, j) += a(i, k) * b(k, j);
    return m;
}

template <typename T>
__host__ __device__ Matrix<T, 2, 2> inverse(const Matrix<T, 2, 2> &m, T &det)
{
    det = m(0, 0) * m(1, 1) - m(0, 1) * m(1, 0);
    Matrix<T, 2, 2> r;
    r(0, 0) = m(1, 1) / det;
    r(1, 1) = m(0, 0) / det;
    r(0, 1) = -m(0, 1) / det;
    r(1, 0) = -m(1, 0) / det;
    return r;
}

struct FilterNoise {
    double acceleration, turn, range, bearing;
};

constexpr int NX = 5;       // x, y, speed, heading, turn rate

__device__ Matrix<double, NX, 1> move(const Matrix<double, NX, 1> &s, double dt, Matrix<double, NX, NX> *jacobian)
{
    Matrix<double, NX, 1> n = s;
    const double v = s(2), h = s(3), w = s(4);
    const double mid = h + 0.5 * w * dt;
    n(0) += v * dt * cos(mid);
    n(1) += v * dt * sin(mid);
    n(3) += w * dt;
    if (jacobian) {
        *jacobian = Matrix<double, NX, NX>::identity();
        (*jacobian)(0, 2) = dt * cos(mid);
        (*jacobian)(0, 3) = -v * dt * sin(mid);
        (*jacobian)(0, 4) = -0.5 * v * dt * dt * sin(mid);
        (*jacobian)(1, 2) = dt * sin(mid);
        (*jacobian)(1, 3) = v * dt * cos(mid);
        (*jacobian)(1, 4) = 0.5 * v * dt * dt * cos(mid);
        (*jacobian)(3, 4) = dt;
    }
    return n;
}

__device__ double wrap_angle(double a)
{
    while (a > M_PI) a -= 2 * M_PI;
    while (a < -M_PI) a += 2 * M_PI;
    return a;
}

__global__ void track(const double *initial, const double2 *measurements, const unsigned char *seen, double dt, FilterNoise q,
                      double gate, double *states, double *log_likelihood, int *rejected, int targets, int steps)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= targets) return;
    Matrix<double, NX, 1> x;
    for (int i = 0; i < NX; ++i) x(i) = initial[id * NX + i];
    Matrix<double, NX, NX> P = Matrix<double, NX, NX>::identity(0.5), Q(0.0);
    Q(2, 2) = q.acceleration * q.acceleration * dt;
    Q(3, 3) = 0.01 * dt;
    Q(4, 4) = q.turn * q.turn * dt;
    Matrix<double, 2, 2> R(0.0);
    R(0, 0) = q.range * q.range;
    R(1, 1) = q.bearing * q.bearing;

    double ll = 0;
    int lost = 0;
    for (int t = 0; t < steps; ++t) {
        Matrix<double, NX, NX> F;
        x = move(x, dt, &F);
        P = F * P * F.transpose() + Q;
        if (seen[id * steps + t]) {
            const double2 z = measurements[id * steps + t];
            const double r2 = x(0) * x(0) + x(1) * x(1), r = sqrt(r2);
            Matrix<double, 2, NX> H(0.0);
            H(0, 0) = x(0) / r;
            H(0, 1) = x(1) / r;
            H(1, 0) = -x(1) / r2;
            H(1, 1) = x(0) / r2;
            Matrix<double, 2, 1> y;
            y(0) = z.x - r;
            y(1) = wrap_angle(z.y - atan2(x(1), x(0)));
            const Matrix<double, 2, 2> S = H * P * H.transpose() + R;
            double det;
            const Matrix<double, 2, 2> Si = inverse(S, det);
            const double d2 = (y.transpose() * Si * y)(0);
            if (d2 > gate) {
                ++lost;
            } else {
                const Matrix<double, NX, 2> K = P * H.transpose() * Si;
                x += K * y;
                const Matrix<double, NX, NX> A = Matrix<double, NX, NX>::identity() - K * H;
                P = A * P * A.transpose() + K * R * K.transpose();
                ll -= 0.5 * (d2 + log(det) + 2 * log(2 * M_PI));
            }
        }
        for (int i = 0; i < NX; ++i) states[(id * steps + t) * NX + i] = x(i);
    }
    log_likelihood[id] = ll;
    rejected[id] = lost;
}

int main()
{
    const int targets = 256, steps = 50;
    std::vector<double> start(targets * NX, 1.0);
    std::vector<double2> z(targets * steps, make_double2(10.0, 0.5));
    double *d_start, *d_states, *d_ll;
    double2 *d_z;
    unsigned char *d_seen;
    int *d_rejected;
    cudaMalloc(&d_start, start.size() * sizeof(double));
    cudaMalloc(&d_z, z.size() * sizeof(double2));
    cudaMalloc(&d_seen, z.size());
    cudaMalloc(&d_states, z.size() * NX * sizeof(double));
    cudaMalloc(&d_ll, targets * sizeof(double));
    cudaMalloc(&d_rejected, targets * sizeof(int));
    cudaMemcpy(d_start, start.data(), start.size() * sizeof(double), cudaMemcpyHostToDevice);
    cudaMemcpy(d_z, z.data(), z.size() * sizeof(double2), cudaMemcpyHostToDevice);
    cudaMemset(d_seen, 1, z.size());
    track<<<targets / 64, 64>>>(d_start, d_z, d_seen, 0.1, {1.0, 0.1, 0.5, 0.01}, 20.0, d_states, d_ll, d_rejected, targets, steps);
    std::vector<double> ll(targets);
    cudaMemcpy(ll.data(), d_ll, targets * sizeof(double), cudaMemcpyDeviceToHost);
    double total = 0;
    for (double v : ll) total += v;
    printf("log-likelihood %f\n", total);
}
