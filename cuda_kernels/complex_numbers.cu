// Complex arithmetic by a class with operators.
class Complex {
public:
    double re, im;
    __device__ Complex(double re, double im) : re(re), im(im) {}
    __device__ Complex operator+(const Complex &o) const { return Complex(re + o.re, im + o.im); }
    __device__ Complex operator*(const Complex &o) const { return Complex(re * o.re - im * o.im, re * o.im + im * o.re); }
    __device__ double norm2() const { return re * re + im * im; }
};

__global__ void julia(const double *re, const double *im, const double *c, double *out, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Complex z(re[i], im[i]);
    const Complex shift(c[0], c[1]);
    for (int k = 0; k < rounds && z.norm2() < 4.0; ++k) z = z * z + shift;
    out[i] = z.norm2();
}
