// Stiff chemistry in many cells: Robertson-like and a five-species network, a Rosenbrock scheme and backward Euler with
// Newton, dense LU with partial pivoting in registers. Rates are Arrhenius in the cell's temperature.
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <cuda_runtime.h>

namespace chem {

template <int N>
struct Dense {
    double a[N][N];
    int pivot[N];

    // returns false for a singular matrix
    __device__ bool factor()
    {
        for (int k = 0; k < N; ++k) {
            int p = k;
            double best = fabs(a[k][k]);
            for (int i = k + 1; i < N; ++i)
                if (fabs(a[i][k]) > best) {
                    best = fabs(a[i][k]);
                    p = i;
                }
            pivot[k] = p;
            if (best < 1e-300) return false;
            if (p != k)
                for (int j = 0; j < N; ++j) {
                    const double t = a[k][j];
                    a[k][j] = a[p][j];
                    a[p][j] = t;
                }
            for (int i = k + 1; i < N; ++i) {
                a[i][k] /= a[k][k];
                for (int j = k + 1; j < N; ++j) a[i][j] -= a[i][k] * a[k][j];
            }
        }
        return true;
    }

    __device__ void solve(double *b) const
    {
        for (int k = 0; k < N; ++k) {
            const double t = b[pivot[k]];
            b[pivot[k]] = b[k];
            b[k] = t;
        }
        for (int i = 1; i < N; ++i)
            for (int j = 0; j < i; ++j) b[i] -= a[i][j] * b[j];
        for (int i = N - 1; i >= 0; --i) {
            for (int j = i + 1; j < N; ++j) b[i] -= a[i][j] * b[j];
            b[i] /= a[i][i];
        }
    }
};

struct Arrhenius {
    double prefactor, exponent, activation;
    __device__ double operator()(double temperature) const
    {
        return prefactor * pow(temperature / 300.0, exponent) * exp(-activation / temperature);
    }
};

// A -> B, B + B -> B + C, B + C -> A + C
struct Robertson {
    static constexpr int species = 3, reactions = 3;
    static __device__ void rates(const double *k, const double *y, double *f)
    {
        const double r1 = k[0] * y[0], r2 = k[1] * y[1] * y[1], r3 = k[2] * y[1] * y[2];
        f[0] = -r1 + r3;
        f[1] = r1 - r2 - r3;
        f[2] = r2;
    }
    static __device__ void jacobian(const double *k, const double *y, double (*j)[species])
    {
        j[0][0] = -k[0]; j[0][1] = k[2] * y[2];                        j[0][2] = k[2] * y[1];
        j[1][0] = k[0];  j[1][1] = -2 * k[1] * y[1] - k[2] * y[2];     j[1][2] = -k[2] * y[1];
        j[2][0] = 0;     j[2][1] = 2 * k[1] * y[1];                    j[2][2] = 0;
    }
};

// nitrogen oxides and ozone with a pool of organics
struct Smog {
    static constexpr int species = 5, reactions = 4;
    static __device__ void rates(const double *k, const double *y, double *f)
    {
        const double photolysis = k[0] * y[1], titration = k[1] * y[0] * y[2], peroxy = k[2] * y[3] * y[0], sink = k[3] * y[1] * y[4];
        f[0] = photolysis - titration - peroxy;      // NO
        f[1] = -photolysis + titration + peroxy - sink;  // NO2
        f[2] = photolysis - titration;               // O3
        f[3] = -peroxy;                              // organics
        f[4] = peroxy - sink;                        // radicals
    }
    static __device__ void jacobian(const double *k, const double *y, double (*j)[species])
    {
        for (int r = 0; r < species; ++r)
            for (int c = 0; c < species; ++c) j[r][c] = 0;
        const double t0 = k[1] * y[2], t2 = k[1] * y[0], p3 = k[2] * y[0], p0 = k[2] * y[3], s1 = k[3] * y[4], s4 = k[3] * y[1];
        j[0][0] = -t0 - p0; j[0][1] = k[0];       j[0][2] = -t2; j[0][3] = -p3;
        j[1][0] = t0 + p0;  j[1][1] = -k[0] - s1; j[1][2] = t2;  j[1][3] = p3;  j[1][4] = -s4;
        j[2][0] = -t0;      j[2][1] = k[0];       j[2][2] = -t2;
        j[3][0] = -p0;      j[3][3] = -p3;
        j[4][0] = p0;       j[4][1] = -s1;        j[4][3] = p3;  j[4][4] = -s4;
    }
};

template <class Net>
__global__ void backward_euler(const double *temperature, const Arrhenius *laws, double *state, int *newton_count, double dt,
                               int steps, double tolerance, int cells)
{
    constexpr int N = Net::species;
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cells) return;
    double k[Net::reactions], y[N], next[N];
    for (int r = 0; r < Net::reactions; ++r) k[r] = laws[r](temperature[c]);
    for (int s = 0; s < N; ++s) y[s] = state[s * cells + c];
    int total = 0;
    for (int step = 0; step < steps; ++step) {
        for (int s = 0; s < N; ++s) next[s] = y[s];
        for (int iteration = 0; iteration < 12; ++iteration) {
            Dense<N> m;
            double g[N], size = 0;
            Net::rates(k, next, g);
            Net::jacobian(k, next, m.a);
            for (int i = 0; i < N; ++i) {
                g[i] = y[i] + dt * g[i] - next[i];
                for (int j = 0; j < N; ++j) m.a[i][j] = (i == j) - dt * m.a[i][j];
            }
            if (!m.factor()) break;
            m.solve(g);
            for (int i = 0; i < N; ++i) {
                next[i] += g[i];
                size = fmax(size, fabs(g[i]) / (1e-6 + fabs(next[i])));
            }
            ++total;
            if (size < tolerance) break;
        }
        for (int s = 0; s < N; ++s) y[s] = next[s];
    }
    for (int s = 0; s < N; ++s) state[s * cells + c] = y[s];
    newton_count[c] = total;
}

// two-stage L-stable Rosenbrock method
template <class Net>
__global__ void rosenbrock(const double *temperature, const Arrhenius *laws, double *state, double dt, int steps, int cells)
{
    constexpr int N = Net::species;
    const double gamma = 1.0 + 0.70710678118654752;
    for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < cells; c += gridDim.x * blockDim.x) {
        double k[Net::reactions], y[N], k1[N], k2[N], mid[N];
        for (int r = 0; r < Net::reactions; ++r) k[r] = laws[r](temperature[c]);
        for (int s = 0; s < N; ++s) y[s] = state[s * cells + c];
        for (int step = 0; step < steps; ++step) {
            Dense<N> m;
            Net::jacobian(k, y, m.a);
            for (int i = 0; i < N; ++i)
                for (int j = 0; j < N; ++j) m.a[i][j] = (i == j) - gamma * dt * m.a[i][j];
            m.factor();
            Net::rates(k, y, k1);
            m.solve(k1);
            for (int i = 0; i < N; ++i) mid[i] = y[i] + dt * k1[i];
            Net::rates(k, mid, k2);
            for (int i = 0; i < N; ++i) k2[i] -= 2.0 * k1[i];
            m.solve(k2);
            for (int i = 0; i < N; ++i) y[i] += dt * (1.5 * k1[i] + 0.5 * k2[i]);
        }
        for (int s = 0; s < N; ++s) state[s * cells + c] = y[s] < 0 ? 0 : y[s];
    }
}

}  // namespace chem

int main()
{
    const int cells = 1024;
    double *T, *y;
    int *count;
    chem::Arrhenius *laws;
    cudaMallocManaged(&T, cells * sizeof(double));
    cudaMallocManaged(&y, 3 * cells * sizeof(double));
    cudaMallocManaged(&count, cells * sizeof(int));
    cudaMallocManaged(&laws, 3 * sizeof(chem::Arrhenius));
    for (int c = 0; c < cells; ++c) {
        T[c] = 290 + 0.02 * c;
        y[c] = 1;
        y[cells + c] = y[2 * cells + c] = 0;
    }
    laws[0] = {0.04, 0, 0};
    laws[1] = {3e7, 0, 0};
    laws[2] = {1e4, 0, 0};
    chem::backward_euler<chem::Robertson><<<cells / 64, 64>>>(T, laws, y, count, 0.1, 40, 1e-8, cells);
    chem::rosenbrock<chem::Robertson><<<8, 64>>>(T, laws, y, 0.01, 10, cells);
    cudaDeviceSynchronize();
    std::printf("%g %g %g, %d\n", y[0], y[cells], y[2 * cells], count[0]);
    return EXIT_SUCCESS;
}
