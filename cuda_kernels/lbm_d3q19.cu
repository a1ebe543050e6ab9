// One time step of the D3Q19 lattice Boltzmann method: collide with a single relaxation time (BGK), then push to the neighbours.
//
// Follows the LBM benchmark of Parboil (J. Stratton et al., "Parboil: a revised benchmark suite for scientific and commercial
// throughput computing", 2012; the method as in SPEC's 470.lbm): a cavity of 120 x 120 x 150 cells under a moving lid, one plane
// of the grid a direction, obstacles that reflect, two layers of cells before and behind the lattice to push into, a block a row.
constexpr int kDirections = 19;
constexpr int kMargin = 2;

enum Cell : unsigned char { kFluid, kObstacle, kLid };

struct Lattice {
    int nx, ny, nz;
};

__device__ constexpr signed char kX[kDirections] = {0, 0, 0, 1, -1, 0, 0, 1, -1, 1, -1, 0, 0, 0, 0, 1, 1, -1, -1};
__device__ constexpr signed char kY[kDirections] = {0, 1, -1, 0, 0, 0, 0, 1, 1, -1, -1, 1, 1, -1, -1, 0, 0, 0, 0};
__device__ constexpr signed char kZ[kDirections] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1};
__device__ constexpr int kOpposite[kDirections] = {0, 2, 1, 4, 3, 6, 5, 10, 9, 8, 7, 14, 13, 12, 11, 18, 17, 16, 15};

__device__ inline float weight(int q) { return q == 0 ? 1.f / 3.f : q < 7 ? 1.f / 18.f : 1.f / 36.f; }

__global__ void collide_and_stream(const float *__restrict__ src, float *__restrict__ dst, const unsigned char *__restrict__ cells,
                                   Lattice lattice, float omega, float3 lid)
{
    const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    const int layer = lattice.nx * lattice.ny;
    const int plane = layer * (lattice.nz + 2 * kMargin);
    const int here = x + lattice.nx * y + layer * (z + kMargin);

    float f[kDirections];
#pragma unroll
    for (int q = 0; q < kDirections; ++q)
        f[q] = src[q * plane + here];

    const unsigned char cell = cells[x + lattice.nx * y + layer * z];
    if (cell == kObstacle) {
#pragma unroll
        for (int q = 0; q < kDirections; ++q)
            dst[q * plane + here + kX[q] + lattice.nx * kY[q] + layer * kZ[q]] = f[kOpposite[q]];
        return;
    }

    float rho = 0.f, ux = 0.f, uy = 0.f, uz = 0.f;
#pragma unroll
    for (int q = 0; q < kDirections; ++q) {
        rho += f[q];
        ux += kX[q] * f[q];
        uy += kY[q] * f[q];
        uz += kZ[q] * f[q];
    }
    ux /= rho;
    uy /= rho;
    uz /= rho;
    if (cell == kLid) {
        ux = lid.x;
        uy = lid.y;
        uz = lid.z;
    }
    const float rest = 1.f - 1.5f * (ux * ux + uy * uy + uz * uz);
#pragma unroll
    for (int q = 0; q < kDirections; ++q) {
        const float along = kX[q] * ux + kY[q] * uy + kZ[q] * uz;
        const float equilibrium = weight(q) * rho * (rest + along * (3.f + 4.5f * along));
        dst[q * plane + here + kX[q] + lattice.nx * kY[q] + layer * kZ[q]] = (1.f - omega) * f[q] + omega * equilibrium;
    }
}
