// Macroscopic neutron cross sections from windowed multipoles, one lookup a thread, broadened by temperature or not.
//
// Follows what RSBench publishes: J. Tramm, A. Siegel, B. Forget, C. Josey, "Performance analysis of a reduced data movement
// algorithm for neutron cross section data in Monte Carlo simulations", EASC 2014; the Faddeeva function is that of S. Abrarov
// and B. Quine, "Efficient algorithmic implementation of the Voigt/complex error function", 2011, and far from zero the
// four-point Gauss-Hermite quadrature. Published problem: 355 nuclides with 1,000 poles and 100 windows on average, four
// l-values, 10,200,000 lookups.
#include <cstdint>

struct Complex {
    double re, im;
};

__device__ inline Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
__device__ inline Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
__device__ inline Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
__device__ inline Complex operator*(double a, Complex b) { return {a * b.re, a * b.im}; }
__device__ inline Complex operator/(Complex a, Complex b)
{
    const double scale = 1.0 / (b.re * b.re + b.im * b.im);
    return {(a.re * b.re + a.im * b.im) * scale, (a.im * b.re - a.re * b.im) * scale};
}
__device__ inline double abs(Complex a) { return sqrt(a.re * a.re + a.im * a.im); }
__device__ inline Complex times_i(Complex a) { return {-a.im, a.re}; }
__device__ inline Complex exp(Complex a)
{
    double s, c;
    sincos(a.im, &s, &c);
    return ::exp(a.re) * Complex{c, s};
}

constexpr int kAngular = 4; // l-values

struct Pole {
    Complex energy;
    Complex total, absorption, fission; // residues
    short l;
};

struct Window {
    double total, absorption, fission; // what the poles outside contribute
    int first, last;                   // its poles, without the last
};

struct Problem {
    int lookups;
    int most_nuclides, most_poles, most_windows; // row lengths of the tables
    int doppler;
};

enum Channel { kTotal, kAbsorption, kFission, kElastic, kChannels };

struct CrossSections {
    double of[kChannels];
};

__constant__ double kShare[12] = {0.140, 0.052, 0.275, 0.134, 0.154, 0.064, 0.066, 0.055, 0.008, 0.015, 0.025, 0.013};

// exp(-(n pi / 12)^2) sqrt(pi) / 6 and (n pi)^2 for n = 1 ... 10.
__device__ constexpr double kWeight[10] = {0.27584023329217705,  0.22457395522461587,  0.15941493827391173,   0.09866576641545421,
                                   0.053244140787639394, 0.025052150005393653, 0.010277465670539542,  0.00367616433284485,
                                   0.0011464936412422333, 0.0003117570150461974};
__device__ constexpr double kSquare[10] = {9.869604401089358, 39.47841760435743,  88.82643960980423,  157.91367041742973, 246.74011002723395,
                                   355.3057584392169, 483.61061565337855, 631.6546816697189, 799.437956488238,  986.9604401089358};

__device__ uint64_t lcg_after(uint64_t state, uint64_t steps)
{
    uint64_t a = 2806196910506780709ULL, c = 1, factor = 1, shift = 0;
    while (steps > 0) {
        if (steps % 2 == 1) {
            factor *= a;
            shift = shift * a + c;
        }
        c *= a + 1;
        a *= a;
        steps /= 2;
    }
    return (factor * state + shift) % (1ULL << 63);
}

__device__ double lcg_uniform(uint64_t *state)
{
    *state = lcg_after(*state, 1);
    return double(*state) / double(1ULL << 63);
}

__device__ int pick_material(double roll)
{
    int m = 0;
    for (double bound = kShare[0]; m < 11 && roll >= bound; bound += kShare[m])
        ++m;
    return m;
}

__device__ Complex faddeeva(Complex z)
{
    const Complex z2 = z * z;
    if (abs(z) >= 6.0)
        return times_i(z * (Complex{0.5124242247547685, 0.0} / (z2 - Complex{0.27525512860841095, 0.0}) +
                            Complex{0.05176535879298782, 0.0} / (z2 - Complex{2.7247448713915890, 0.0})));
    const Complex wave = exp(times_i(12.0 * z));
    Complex sum = {0.0, 0.0};
#pragma unroll
    for (int n = 0; n < 10; ++n) {
        const double sign = n % 2 ? 1.0 : -1.0;
        sum = sum + kWeight[n] * ((sign * wave - Complex{1.0, 0.0}) / (Complex{kSquare[n], 0.0} - 144.0 * z2));
    }
    return times_i((Complex{1.0, 0.0} - wave) / (12.0 * z)) + 81.24330003087691 * times_i(z * sum);
}

__device__ void phases(const double *radius, double root, Complex (&factor)[kAngular])
{
#pragma unroll
    for (int l = 0; l < kAngular; ++l) {
        double phi = radius[l] * root;
        switch (l) {
        case 1: phi -= atan(phi); break;
        case 2: phi -= atan(3.0 * phi / (3.0 - phi * phi)); break;
        case 3: phi -= atan(phi * (15.0 - phi * phi) / (15.0 - 6.0 * phi * phi)); break;
        }
        factor[l] = {cos(2.0 * phi), -sin(2.0 * phi)};
    }
}

__device__ CrossSections micro_xs(double energy, int windows, const double *radius, const Window *window, const Pole *poles,
                                  bool doppler)
{
    const int at = min(int(energy * windows), windows - 1);
    const Window w = window[at];
    const double root = sqrt(energy);
    Complex factor[kAngular];
    phases(radius, root, factor);
    double total = energy * w.total, absorption = energy * w.absorption, fission = energy * w.fission;
    for (int i = w.first; i < w.last; ++i) {
        const Pole pole = poles[i];
        Complex shape;
        if (doppler)
            shape = faddeeva(0.5 * (Complex{energy, 0.0} - pole.energy));
        else
            shape = Complex{0.0, 1.0 / energy} / (pole.energy - Complex{root, 0.0});
        total += (pole.total * (shape * factor[pole.l])).re;
        absorption += (pole.absorption * shape).re;
        fission += (pole.fission * shape).re;
    }
    return {total, absorption, fission, total - absorption};
}

__global__ void multipole_lookup(const Pole *__restrict__ poles, const Window *__restrict__ windows,
                                 const double *__restrict__ radius, const int *__restrict__ window_count,
                                 const int *__restrict__ material_size, const int *__restrict__ material_nuclide,
                                 const double *__restrict__ density, double *__restrict__ result, Problem problem)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= problem.lookups)
        return;

    uint64_t seed = lcg_after(1070, 2 * uint64_t(i));
    const double energy = lcg_uniform(&seed);
    const int material = pick_material(lcg_uniform(&seed));

    CrossSections macro = {};
    for (int j = 0; j < material_size[material]; ++j) {
        const int entry = material * problem.most_nuclides + j, nuclide = material_nuclide[entry];
        const CrossSections micro =
            micro_xs(energy, window_count[nuclide], radius + nuclide * kAngular, windows + nuclide * problem.most_windows,
                     poles + nuclide * problem.most_poles, problem.doppler == 1);
        for (int k = 0; k < kChannels; ++k)
            macro.of[k] += density[entry] * micro.of[k];
    }
    for (int k = 0; k < kChannels; ++k)
        result[i * kChannels + k] = macro.of[k];
}
