// Reflectance of a stack of absorbing thin films by characteristic matrices: complex arithmetic throughout.
#include <array>
#include <complex>
#include <iomanip>
#include <iostream>
#include <vector>

using cplx = std::complex<double>;
using Matrix2 = std::array<std::array<cplx, 2>, 2>;

namespace optics {

struct Layer {
    double n, k;       // refractive index n - ik
    double thickness;  // nm
};

Matrix2 multiply(const Matrix2 &a, const Matrix2 &b)
{
    Matrix2 c;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            c[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j];
    return c;
}

double reflectance(const Layer *layers, int count, double substrate, double angle, double wavelength)
{
    using namespace std::complex_literals;
    const double s = std::sin(angle);
    Matrix2 m{{{1.0, 0.0}, {0.0, 1.0}}};
    for (int l = 0; l < count; ++l) {
        const cplx index(layers[l].n, -layers[l].k);
        const cplx cosine = std::sqrt(1.0 - s * s / (index * index));
        const cplx delta = 2.0 * M_PI * index * layers[l].thickness * cosine / wavelength;
        const cplx eta = index * cosine;
        m = multiply(m, Matrix2{{{std::cos(delta), 1i * std::sin(delta) / eta}, {1i * eta * std::sin(delta), std::cos(delta)}}});
    }
    const cplx eta_s = std::sqrt(cplx(substrate * substrate - s * s)), eta_0 = std::cos(angle);
    const cplx b = m[0][0] + m[0][1] * eta_s, c = m[1][0] + m[1][1] * eta_s;
    const cplx r = (eta_0 * b - c) / (eta_0 * b + c);
    return std::norm(r);
}

} // namespace optics

void spectrum(const optics::Layer *layers, const double *wavelengths, double *out, int count, int points,
              double substrate, double angle)
{
#pragma omp parallel for schedule(static)
    for (int p = 0; p < points; ++p)
        out[p] = optics::reflectance(layers, count, substrate, angle, wavelengths[p]);
}

int main()
{
    std::vector<optics::Layer> stack{{1.38, 0.0, 99.6}, {2.1, 0.01, 130.0}};
    std::vector<double> wavelengths, out(30);
    for (int i = 0; i < 30; ++i)
        wavelengths.push_back(400.0 + 10 * i);
    spectrum(stack.data(), wavelengths.data(), out.data(), 2, 30, 1.52, 0.3);
    for (double r : out)
        std::cout << std::setprecision(4) << r << ' ';
    std::cout << '\n';
}
