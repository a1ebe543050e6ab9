// Electronic structure with s-type Gaussians: overlap, kinetic, nuclear attraction and two-electron integrals, the Boys
// function by series and asymptote, a density contracted to an energy. Primitive loops over contracted shells.
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
#include <cuda_runtime.h>

namespace qc {

constexpr int kMaxPrimitives = 3;
constexpr double kPi = 3.14159265358979323846;

struct Shell {
    double centre[3];
    double exponent[kMaxPrimitives];
    double coefficient[kMaxPrimitives];
    int primitives;
};

struct Nucleus {
    double3 at;
    double charge;
};

__device__ double boys0(double t)
{
    if (t < 1e-8) return 1.0 - t / 3.0;
    if (t > 30.0) return 0.5 * sqrt(kPi / t);
    // series: exp(-t) sum (2t)^k / (2k+1)!!
    double term = 1.0, sum = 1.0;
    for (int k = 1; k < 200; ++k) {
        term *= 2.0 * t / (2 * k + 1);
        sum += term;
        if (term < 1e-16 * sum) break;
    }
    return exp(-t) * sum;
}

struct Pair {
    double p;           // sum of exponents
    double centre[3];
    double k;           // prefactor
};

__device__ Pair product(const Shell &a, int i, const Shell &b, int j)
{
    Pair r;
    const double ea = a.exponent[i], eb = b.exponent[j];
    r.p = ea + eb;
    double d2 = 0;
    for (int x = 0; x < 3; ++x) {
        const double d = a.centre[x] - b.centre[x];
        d2 += d * d;
        r.centre[x] = (ea * a.centre[x] + eb * b.centre[x]) / r.p;
    }
    r.k = a.coefficient[i] * b.coefficient[j] * pow(4.0 * ea * eb / (kPi * kPi), 0.75) * exp(-ea * eb / r.p * d2);
    return r;
}

__global__ void one_electron(const Shell *shells, const Nucleus *nuclei, double *overlap, double *core, int n, int n_nuclei)
{
    const int a = blockIdx.y * blockDim.y + threadIdx.y, b = blockIdx.x * blockDim.x + threadIdx.x;
    if (a >= n || b > a) return;
    const Shell &A = shells[a], &B = shells[b];
    double s = 0, h = 0;
    for (int i = 0; i < A.primitives; ++i)
        for (int j = 0; j < B.primitives; ++j) {
            const Pair p = product(A, i, B, j);
            const double own = p.k * pow(kPi / p.p, 1.5);
            const double mu = A.exponent[i] * B.exponent[j] / p.p;
            double d2 = 0;
            for (int x = 0; x < 3; ++x) d2 += (A.centre[x] - B.centre[x]) * (A.centre[x] - B.centre[x]);
            s += own;
            h += mu * (3.0 - 2.0 * mu * d2) * own;
            for (int c = 0; c < n_nuclei; ++c) {
                const double dx = p.centre[0] - nuclei[c].at.x, dy = p.centre[1] - nuclei[c].at.y, dz = p.centre[2] - nuclei[c].at.z;
                h -= nuclei[c].charge * p.k * 2.0 * kPi / p.p * boys0(p.p * (dx * dx + dy * dy + dz * dz));
            }
        }
    overlap[a * n + b] = overlap[b * n + a] = s;
    core[a * n + b] = core[b * n + a] = h;
}

__device__ double repulsion(const Shell &A, const Shell &B, const Shell &C, const Shell &D)
{
    double sum = 0;
    for (int i = 0; i < A.primitives; ++i)
        for (int j = 0; j < B.primitives; ++j) {
            const Pair p = product(A, i, B, j);
            for (int k = 0; k < C.primitives; ++k)
                for (int l = 0; l < D.primitives; ++l) {
                    const Pair q = product(C, k, D, l);
                    double r2 = 0;
                    for (int x = 0; x < 3; ++x) r2 += (p.centre[x] - q.centre[x]) * (p.centre[x] - q.centre[x]);
                    sum += p.k * q.k * 2.0 * pow(kPi, 2.5) / (p.p * q.p * sqrt(p.p + q.p)) * boys0(p.p * q.p / (p.p + q.p) * r2);
                }
        }
    return sum;
}

// Coulomb and exchange matrices of a density: thread ab, block stride over cd; symmetric in ab only
__global__ void fock(const Shell *shells, const double *density, double *F, int n)
{
    const int ab = blockIdx.x * blockDim.x + threadIdx.x;
    if (ab >= n * n) return;
    const int a = ab / n, b = ab % n;
    double g = 0;
    for (int c = 0; c < n; ++c)
        for (int d = 0; d <= c; ++d) {
            const double weight = c == d ? 1.0 : 2.0;
            const double dcd = density[c * n + d];
            if (fabs(dcd) < 1e-12) continue;
            g += weight * dcd * repulsion(shells[a], shells[b], shells[c], shells[d]);
            g -= 0.5 * dcd * repulsion(shells[a], shells[c], shells[b], shells[d]);
            if (c != d) g -= 0.5 * dcd * repulsion(shells[a], shells[d], shells[b], shells[c]);
        }
    F[ab] += g;
}

__global__ void energy(const double *density, const double *core, const double *F, const Nucleus *nuclei, double *result, int n,
                       int n_nuclei)
{
    double e = 0;
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) e += 0.5 * density[i] * (core[i] + F[i]);
    if (threadIdx.x == 0)
        for (int a = 0; a < n_nuclei; ++a)
            for (int b = 0; b < a; ++b) {
                const double3 p = nuclei[a].at, q = nuclei[b].at;
                e += nuclei[a].charge * nuclei[b].charge * rnorm3d(p.x - q.x, p.y - q.y, p.z - q.z);
            }
    atomicAdd(result, e);
}

}  // namespace qc

int main()
{
    std::map<std::string, std::vector<double>> basis = {{"H", {3.42525, 0.62391, 0.16886}}, {"He", {6.36242, 1.15892, 0.31365}}};
    const double c[3] = {0.15433, 0.53533, 0.44463};
    qc::Shell host[2];
    int s = 0;
    for (auto &entry : basis) {
        host[s].primitives = 3;
        for (int i = 0; i < 3; ++i) {
            host[s].centre[i] = i == 2 ? 1.4632 * s : 0;
            host[s].exponent[i] = entry.second[i];
            host[s].coefficient[i] = c[i];
        }
        ++s;
    }
    qc::Shell *shells;
    qc::Nucleus *nuclei;
    double *S, *H;
    cudaMallocManaged(&shells, sizeof(host));
    cudaMallocManaged(&nuclei, 2 * sizeof(qc::Nucleus));
    cudaMallocManaged(&S, 4 * sizeof(double));
    cudaMallocManaged(&H, 4 * sizeof(double));
    for (int i = 0; i < 2; ++i) {
        shells[i] = host[i];
        nuclei[i] = {make_double3(0, 0, 1.4632 * i), 1.0 + i};
    }
    qc::one_electron<<<1, dim3(2, 2)>>>(shells, nuclei, S, H, 2, 2);
    cudaDeviceSynchronize();
    std::printf("%f %f\n", S[1], H[0]);
}
