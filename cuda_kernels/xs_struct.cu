// The cross sections of xs_lookup.cu as such programs are mostly written: all tables in one struct of pointers, which is
// passed by value, results through pointers to local arrays, the kind of grid asked for in the innermost function.
#include <cstdint>

struct Point {
    double energy, total, elastic, absorption, fission, nu_fission;
};

struct Tables {
    int *material_size;
    double *density;
    int *material_nuclide;
    double *union_energy;
    int *union_index;
    Point *grids;
    double *result;
    long points;
    int nuclides, most;
};

enum Kind { kNuclideGrids, kUnionGrid };

struct Settings {
    long lookups;
    int kind;
};

__constant__ double kShare[12] = {0.140, 0.052, 0.275, 0.134, 0.154, 0.064, 0.066, 0.055, 0.008, 0.015, 0.025, 0.013};

__device__ uint64_t skip_ahead(uint64_t state, uint64_t steps)
{
    uint64_t a = 2806196910506780709ULL, c = 1, factor = 1, shift = 0;
    for (; steps > 0; steps /= 2) {
        if (steps & 1) {
            factor *= a;
            shift = shift * a + c;
        }
        c *= a + 1;
        a *= a;
    }
    return (factor * state + shift) % (1ULL << 63);
}

__device__ double draw(uint64_t *state)
{
    *state = skip_ahead(*state, 1);
    return double(*state) / double(1ULL << 63);
}

__device__ int material_of(double roll)
{
    double bound = 0.0;
    for (int m = 0; m < 12; ++m) {
        bound += kShare[m];
        if (roll < bound)
            return m;
    }
    return 0;
}

__device__ long last_not_above(long n, double energy, const double *energies)
{
    long low = 0, high = n - 1;
    while (high - low > 1) {
        const long middle = low + (high - low) / 2;
        if (energies[middle] > energy)
            high = middle;
        else
            low = middle;
    }
    return low;
}

__device__ long point_not_above(long n, double energy, const Point *points)
{
    long low = 0, high = n - 1;
    while (high - low > 1) {
        const long middle = low + (high - low) / 2;
        if (points[middle].energy > energy)
            high = middle;
        else
            low = middle;
    }
    return low;
}

__device__ void micro_sections(double energy, int nuclide, int nuclides, long points, const int *index, Point *grids,
                               long interval, int kind, double *xs)
{
    Point *low;
    if (kind == kUnionGrid) {
        const int at = index[interval * nuclides + nuclide];
        low = &grids[nuclide * points + (at == points - 1 ? at - 1 : at)];
    } else {
        low = &grids[nuclide * points + point_not_above(points, energy, &grids[nuclide * points])];
    }
    Point *high = low + 1;
    const double f = (high->energy - energy) / (high->energy - low->energy);
    xs[0] = high->total - f * (high->total - low->total);
    xs[1] = high->elastic - f * (high->elastic - low->elastic);
    xs[2] = high->absorption - f * (high->absorption - low->absorption);
    xs[3] = high->fission - f * (high->fission - low->fission);
    xs[4] = high->nu_fission - f * (high->nu_fission - low->nu_fission);
}

__device__ void macro_sections(double energy, int material, int nuclides, long points, int *sizes, double *density,
                               double *union_energy, int *index, Point *grids, int *members, double *macro, int kind,
                               int most)
{
    double micro[5];
    long interval = -1;
    for (int k = 0; k < 5; ++k)
        macro[k] = 0.0;
    if (kind == kUnionGrid)
        interval = last_not_above(nuclides * points, energy, union_energy);
    for (int j = 0; j < sizes[material]; ++j) {
        const int nuclide = members[material * most + j];
        const double share = density[material * most + j];
        micro_sections(energy, nuclide, nuclides, points, index, grids, interval, kind, micro);
        for (int k = 0; k < 5; ++k)
            macro[k] += micro[k] * share;
    }
}

__global__ void xs_struct(Settings in, Tables data)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= in.lookups)
        return;
    uint64_t seed = skip_ahead(1070, 2 * uint64_t(i));
    const double energy = draw(&seed);
    const int material = material_of(draw(&seed));
    double macro[5];
    macro_sections(energy, material, data.nuclides, data.points, data.material_size, data.density, data.union_energy,
                   data.union_index, data.grids, data.material_nuclide, macro, in.kind, data.most);
    for (int k = 0; k < 5; ++k)
        data.result[long(i) * 5 + k] = macro[k];
}
