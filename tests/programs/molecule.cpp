// Energy of a small molecule: bonds, angles, torsions; vectors by value and by reference, index arrays, std::complex structure factor.
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

struct Vec {
    double x, y, z;
};

inline Vec operator-(const Vec &a, const Vec &b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline double dot(const Vec &a, const Vec &b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vec cross(const Vec &a, const Vec &b)
{
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double norm(const Vec &a) { return std::sqrt(dot(a, a)); }

struct Topology {
    const int *bonds;     // pairs
    const int *angles;    // triples
    const int *torsions;  // quadruples
    int n_bonds, n_angles, n_torsions;
};

double bond_energy(const Vec *r, const int *bonds, const double *rest, int count, double stiffness)
{
    double e = 0;
    for (int b = 0; b < count; ++b) {
        const double d = norm(r[bonds[2 * b]] - r[bonds[2 * b + 1]]) - rest[b];
        e += 0.5 * stiffness * d * d;
    }
    return e;
}

double torsion_energy(const Vec *r, const int *torsions, const double *barrier, int count)
{
    double e = 0;
#pragma omp parallel for reduction(+:e)
    for (int t = 0; t < count; ++t) {
        const int *k = torsions + 4 * t;
        const Vec b1 = r[k[1]] - r[k[0]], b2 = r[k[2]] - r[k[1]], b3 = r[k[3]] - r[k[2]];
        const Vec n1 = cross(b1, b2), n2 = cross(b2, b3);
        const double phi = std::atan2(norm(b2) * dot(b1, n2), dot(n1, n2));
        e += barrier[t] * (1 + std::cos(3 * phi));
    }
    return e;
}

// |sum of f exp(i k.r)|^2 for a few wave vectors
void structure_factor(const Vec *r, const double *form, const Vec *k, double *intensity, int atoms, int waves)
{
    for (int w = 0; w < waves; ++w) {
        std::complex<double> f(0.0, 0.0);
        for (int a = 0; a < atoms; ++a)
            f += form[a] * std::exp(std::complex<double>(0.0, dot(k[w], r[a])));
        intensity[w] = std::norm(f);
    }
}

int main()
{
    std::array<Vec, 5> r{{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, 1, 1}, {2, 1, 1}}};
    const int bonds[] = {0, 1, 1, 2, 2, 3, 3, 4}, torsions[] = {0, 1, 2, 3, 1, 2, 3, 4};
    const double rest[] = {1, 1, 1, 1}, barrier[] = {0.5, 0.7}, form[] = {1, 1, 2, 1, 1};
    double intensity[1];
    structure_factor(r.data(), form, r.data() + 1, intensity, 5, 1);
    std::printf("%f %f %f\n", bond_energy(r.data(), bonds, rest, 4, 10), torsion_energy(r.data(), torsions, barrier, 2),
                intensity[0]);
}
