// Macroscopic neutron cross sections by lookups on a unionised energy grid, one lookup a thread.
//
// Follows what XSBench publishes: J. Tramm, A. Siegel, T. Islam, M. Schulz, "XSBench - the development and verification of a
// performance abstraction for Monte Carlo reactor analysis", PHYSOR 2014. Published problem: 355 nuclides with 11,303 grid
// points each, the twelve materials of the Hoogenboom-Martin core, five reaction channels, 17,000,000 lookups.
#include <cstdint>

enum Channel { kTotal, kElastic, kAbsorption, kFission, kNuFission, kChannels };

struct GridPoint {
    double energy;
    double total;
    double elastic;
    double absorption;
    double fission;
    double nu_fission;
};

struct Problem {
    long lookups;
    long points;      // of a nuclide's grid
    int nuclides;
    int most;         // nuclides of the largest material: the row length of the material tables
};

// Fuel, cladding, cold and hot water, pressure vessel, five reflectors and plates, fuel assemblies' tops and bottoms.
constexpr int kMaterials = 12;
__constant__ double kShare[kMaterials] = {0.140, 0.052, 0.275, 0.134, 0.154, 0.064, 0.066, 0.055, 0.008, 0.015, 0.025, 0.013};

// x -> a x + c modulo 2^63, with a jump to any place of the sequence, so that every lookup has its own two numbers.
class Lcg {
public:
    __device__ explicit Lcg(uint64_t start) : state_(start) {}

    __device__ void skip(uint64_t count)
    {
        uint64_t a = kFactor, c = 1, jump_a = 1, jump_c = 0;
        for (; count; count >>= 1) {
            if (count & 1) {
                jump_a *= a;
                jump_c = jump_c * a + c;
            }
            c *= a + 1;
            a *= a;
        }
        state_ = (jump_a * state_ + jump_c) & kMask;
    }

    __device__ double uniform()
    {
        state_ = (kFactor * state_ + 1) & kMask;
        return double(state_) / 9223372036854775808.0;
    }

private:
    static constexpr uint64_t kFactor = 2806196910506780709ULL, kMask = (1ULL << 63) - 1;
    uint64_t state_;
};

__device__ int pick_material(double roll)
{
    double bound = 0.0;
    for (int m = 0; m < kMaterials; ++m) {
        bound += kShare[m];
        if (roll < bound)
            return m;
    }
    return 0;
}

// The last of n ascending energies that is not above `energy`; the first one where all are.
__device__ long find_interval(const double *energies, long n, double energy)
{
    long low = 0, high = n - 1;
    while (high - low > 1) {
        long middle = low + (high - low) / 2;
        if (energies[middle] > energy)
            high = middle;
        else
            low = middle;
    }
    return low;
}

__device__ void micro_xs(double energy, const GridPoint *low, double (&xs)[kChannels])
{
    const GridPoint *high = low + 1;
    const double f = (high->energy - energy) / (high->energy - low->energy);
    xs[kTotal] = high->total - f * (high->total - low->total);
    xs[kElastic] = high->elastic - f * (high->elastic - low->elastic);
    xs[kAbsorption] = high->absorption - f * (high->absorption - low->absorption);
    xs[kFission] = high->fission - f * (high->fission - low->fission);
    xs[kNuFission] = high->nu_fission - f * (high->nu_fission - low->nu_fission);
}

__global__ void xs_lookup(const GridPoint *__restrict__ grids, const double *__restrict__ union_energy,
                          const int *__restrict__ union_index, const int *__restrict__ material_size,
                          const int *__restrict__ material_nuclide, const double *__restrict__ density,
                          double *__restrict__ result, Problem problem)
{
    const long i = long(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= problem.lookups)
        return;

    Lcg random(1070);
    random.skip(2 * i);
    const double energy = random.uniform();
    const int material = pick_material(random.uniform());

    double macro[kChannels] = {0.0};
    const long interval = find_interval(union_energy, problem.nuclides * problem.points, energy);
    const int *lower = union_index + interval * problem.nuclides;
    for (int j = 0; j < material_size[material]; ++j) {
        const int nuclide = material_nuclide[material * problem.most + j];
        long point = lower[nuclide];
        if (point == problem.points - 1)
            --point;
        double micro[kChannels];
        micro_xs(energy, &grids[nuclide * problem.points + point], micro);
        for (int k = 0; k < kChannels; ++k)
            macro[k] += density[material * problem.most + j] * micro[k];
    }
    for (int k = 0; k < kChannels; ++k)
        result[i * kChannels + k] = macro[k];
}
