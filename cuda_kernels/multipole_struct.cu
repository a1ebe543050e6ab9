// The cross sections of multipole_lookup.cu as such programs are mostly written: all tables in one struct of pointers,
// which is passed by value, results through pointers to local arrays.
#include "multipole_lookup.cu"

struct Tables {
    int *material_size;
    double *density;
    int *material_nuclide;
    int *window_count;
    double *radius;
    Window *windows;
    Pole *poles;
    double *result;
    int most_nuclides, most_poles, most_windows;
};

struct Settings {
    int lookups, doppler;
};

__device__ void phase_factors(double energy, int nuclide, const Tables &data, Complex *factors)
{
    for (int l = 0; l < kAngular; ++l) {
        double phi = data.radius[nuclide * kAngular + l] * sqrt(energy);
        if (l == 1)
            phi -= atan(phi);
        else if (l == 2)
            phi -= atan(3.0 * phi / (3.0 - phi * phi));
        else if (l == 3)
            phi -= atan(phi * (15.0 - phi * phi) / (15.0 - 6.0 * phi * phi));
        factors[l] = Complex{cos(2.0 * phi), -sin(2.0 * phi)};
    }
}

__device__ void micro_sections(double *micro, int nuclide, double energy, const Settings &in, const Tables &data)
{
    const int count = data.window_count[nuclide];
    int at = int(energy * count);
    if (at == count)
        at--;
    const Window w = data.windows[nuclide * data.most_windows + at];
    Complex factors[kAngular];
    phase_factors(energy, nuclide, data, factors);
    double total = energy * w.total, absorption = energy * w.absorption, fission = energy * w.fission;
    for (int i = w.first; i < w.last; ++i) {
        const Pole pole = data.poles[nuclide * data.most_poles + i];
        Complex shape;
        if (in.doppler)
            shape = faddeeva(0.5 * (Complex{energy, 0.0} - pole.energy));
        else
            shape = Complex{0.0, 1.0 / energy} / (pole.energy - Complex{sqrt(energy), 0.0});
        total += (pole.total * (shape * factors[pole.l])).re;
        absorption += (pole.absorption * shape).re;
        fission += (pole.fission * shape).re;
    }
    micro[kTotal] = total;
    micro[kAbsorption] = absorption;
    micro[kFission] = fission;
    micro[kElastic] = total - absorption;
}

__global__ void multipole_struct(Settings in, Tables data)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= in.lookups)
        return;
    uint64_t seed = lcg_after(1070, 2 * uint64_t(i));
    const double energy = lcg_uniform(&seed);
    const int material = pick_material(lcg_uniform(&seed));
    double macro[kChannels] = {0.0};
    for (int j = 0; j < data.material_size[material]; ++j) {
        double micro[kChannels];
        const int nuclide = data.material_nuclide[material * data.most_nuclides + j];
        micro_sections(micro, nuclide, energy, in, data);
        for (int k = 0; k < kChannels; ++k)
            macro[k] += micro[k] * data.density[material * data.most_nuclides + j];
    }
    for (int k = 0; k < kChannels; ++k)
        data.result[i * kChannels + k] = macro[k];
}
