// A Mie-like series: logarithmic derivatives by downward recurrence, complex refractive index.
#include <cstdio>
#include <cuda_runtime.h>

class Complex {
public:
    double re, im;
    __host__ __device__ Complex(double r = 0.0, double i = 0.0) : re(r), im(i) {}
    __host__ __device__ Complex operator+(const Complex &o) const { return Complex(re + o.re, im + o.im); }
    __host__ __device__ Complex operator-(const Complex &o) const { return Complex(re - o.re, im - o.im); }
    __host__ __device__ Complex operator*(const Complex &o) const
    {
        return Complex(re * o.re - im * o.im, re * o.im + im * o.re);
    }
    __host__ __device__ Complex operator/(const Complex &o) const
    {
        const double s = 1.0 / (o.re * o.re + o.im * o.im);
        return Complex((re * o.re + im * o.im) * s, (im * o.re - re * o.im) * s);
    }
    __host__ __device__ double norm() const { return re * re + im * im; }
};

__host__ __device__ inline Complex operator*(double s, const Complex &c) { return Complex(s * c.re, s * c.im); }

const int kTerms = 12;

__global__ void efficiencies(const double *size, const double *n_real, const double *n_imag, double *q_ext,
                             double *q_sca, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const double x = size[i];
    const Complex m(n_real[i], n_imag[i]);
    const Complex mx = x * m;
    Complex d[kTerms + 8];
    for (int n = kTerms + 7; n > 0; --n) {
        const Complex r = Complex(n) / mx;
        d[n - 1] = r - Complex(1.0) / (d[n] + r);
    }
    double psi0 = cos(x), psi1 = sin(x), chi0 = -sin(x), chi1 = cos(x);
    double ext = 0.0, sca = 0.0;
    for (int n = 1; n <= kTerms; ++n) {
        const double psi = (2.0 * n - 1.0) * psi1 / x - psi0;
        const double chi = (2.0 * n - 1.0) * chi1 / x - chi0;
        if (fabs(chi) > 1e6)
            break;
        const Complex xi(psi, -chi), xi1(psi1, -chi1);
        const Complex da = d[n] / m + Complex(n / x);
        const Complex db = m * d[n] + Complex(n / x);
        const Complex a = (psi * da - Complex(psi1)) / (da * xi - xi1);
        const Complex b = (psi * db - Complex(psi1)) / (db * xi - xi1);
        ext += (2 * n + 1) * (a + b).re;
        sca += (2 * n + 1) * (a.norm() + b.norm());
        psi0 = psi1; psi1 = psi;
        chi0 = chi1; chi1 = chi;
    }
    q_ext[i] = 2.0 / (x * x) * ext;
    q_sca[i] = 2.0 / (x * x) * sca;
}

int main()
{
    const int n = 1000;
    double *buffer;
    if (cudaMallocManaged(&buffer, 5 * n * sizeof(double)) != cudaSuccess) {
        printf("no memory\n");
        return 1;
    }
    for (int i = 0; i < n; ++i) {
        buffer[i] = 0.5 + 0.003 * i;
        buffer[n + i] = 1.33;
        buffer[2 * n + i] = 0.01;
    }
    efficiencies<<<(n + 127) / 128, 128>>>(buffer, buffer + n, buffer + 2 * n, buffer + 3 * n, buffer + 4 * n, n);
    cudaDeviceSynchronize();
    printf("Q_ext(%g) = %g\n", buffer[0], buffer[3 * n]);
    cudaFree(buffer);
    return 0;
}
