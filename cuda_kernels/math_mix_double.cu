// The same in double precision, some of it by way of overloads from <cmath>.
#include <cmath>

__global__ void math_mix_double(const double *a, const double *b, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = a[i], y = b[i];
    double first = std::pow(x, y) + std::tanh(x - y) + erf(x * y) + std::log1p(x) + std::expm1(0.1 * y) + erfc(x);
    double second = std::atan2(x, y) + std::cbrt(x) + std::hypot(x, y) + std::fma(x, y, std::cos(x)) + std::sinh(0.3 * x);
    double third = std::asin(0.4 * x) + std::atan(y) + std::tan(0.5 * x) + std::exp2(0.5 * y) + std::log2(x) + rsqrt(x);
    out[i] = first + 0.5 * second + 0.25 * third + std::fmod(x, 0.3) + std::sqrt(y) + x / y;
}
