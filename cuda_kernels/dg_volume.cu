// Volume term of a discontinuous Galerkin method: compressible flow under gravity on hexahedra with 5 x 5 x 5 nodes.
//
// Follows the volume kernel of D. Abdi, L. Wilcox, T. Warburton, F. Giraldo, "A GPU-accelerated continuous and discontinuous
// Galerkin non-hydrostatic atmospheric model", 2019: a block an element, a thread a column, fluxes of one layer in shared memory,
// the derivative along the column in registers. Published problem: order 4, 20,000 elements.
constexpr int kOrder = 4;
constexpr int kNodes = kOrder + 1;
constexpr int kVolume = kNodes * kNodes * kNodes;

enum State { kRho, kU, kV, kW, kE, kStates };
enum Geometry { kXiX, kXiY, kXiZ, kEtaX, kEtaY, kEtaZ, kZetaX, kZetaY, kZetaZ, kMass, kInverseMass, kHeight, kGeometry };

// state and rhs: [element][state][k][j][i]; geometry: [element][factor][k][j][i]; derivative: [node of the point][node of the basis]
__global__ void __launch_bounds__(kNodes *kNodes)
    volume_rhs(const double *__restrict__ state, const double *__restrict__ geometry, const double *__restrict__ derivative,
               double *__restrict__ rhs, double gravity, double gamma)
{
    __shared__ double s_D[kNodes][kNodes];
    __shared__ double s_F[kStates][kNodes][kNodes];
    __shared__ double s_G[kStates][kNodes][kNodes];
    const int i = threadIdx.x, j = threadIdx.y;
    const long e = blockIdx.x;

    s_D[j][i] = derivative[j * kNodes + i];

    double r_rhs[kStates][kNodes];
#pragma unroll
    for (int k = 0; k < kNodes; ++k)
#pragma unroll
        for (int s = 0; s < kStates; ++s)
            r_rhs[s][k] = 0.0;

#pragma unroll
    for (int k = 0; k < kNodes; ++k) {
        __syncthreads();
        const int node = (k * kNodes + j) * kNodes + i;
        const double *geo = geometry + e * kGeometry * kVolume + node;
        const double *Q = state + e * kStates * kVolume + node;
        const double mass = geo[kMass * kVolume];

        const double rho = Q[kRho * kVolume], U = Q[kU * kVolume], V = Q[kV * kVolume], W = Q[kW * kVolume], E = Q[kE * kVolume];
        const double inverse = 1.0 / rho;
        const double u = U * inverse, v = V * inverse, w = W * inverse;
        const double P = (gamma - 1.0) * (E - 0.5 * (U * u + V * v + W * w) - rho * gravity * geo[kHeight * kVolume]);

        const double fx[kStates] = {U, u * U + P, u * V, u * W, u * (E + P)};
        const double fy[kStates] = {V, v * U, v * V + P, v * W, v * (E + P)};
        const double fz[kStates] = {W, w * U, w * V, w * W + P, w * (E + P)};

        double r_H[kStates];
#pragma unroll
        for (int s = 0; s < kStates; ++s) {
            s_F[s][j][i] = mass * (geo[kXiX * kVolume] * fx[s] + geo[kXiY * kVolume] * fy[s] + geo[kXiZ * kVolume] * fz[s]);
            s_G[s][j][i] = mass * (geo[kEtaX * kVolume] * fx[s] + geo[kEtaY * kVolume] * fy[s] + geo[kEtaZ * kVolume] * fz[s]);
            r_H[s] = mass * (geo[kZetaX * kVolume] * fx[s] + geo[kZetaY * kVolume] * fy[s] + geo[kZetaZ * kVolume] * fz[s]);
        }
        r_rhs[kW][k] -= mass * rho * gravity;
        __syncthreads();

#pragma unroll
        for (int n = 0; n < kNodes; ++n) {
            const double Dkn = s_D[k][n], Dni = s_D[n][i], Dnj = s_D[n][j];
#pragma unroll
            for (int s = 0; s < kStates; ++s) {
                r_rhs[s][n] += Dkn * r_H[s];
                r_rhs[s][k] += Dni * s_F[s][j][n];
                r_rhs[s][k] += Dnj * s_G[s][n][i];
            }
        }
    }

#pragma unroll
    for (int k = 0; k < kNodes; ++k) {
        const int node = (k * kNodes + j) * kNodes + i;
        const double inverse = geometry[(e * kGeometry + kInverseMass) * kVolume + node];
#pragma unroll
        for (int s = 0; s < kStates; ++s)
            rhs[(e * kStates + s) * kVolume + node] += inverse * r_rhs[s][k];
    }
}
