// Light through a voxel grid, walking from face to face until the ray leaves or is absorbed; and per-pixel medians of a
// small window by quickselect. Loops end in the middle, on several levels.
#include <cstdio>
#include <cuda_runtime.h>

struct Grid {
    int nx, ny;
    double cell;
};

__global__ void attenuate(const double *density, const double2 *origins, const double2 *directions, double *light, Grid g,
                          int rays, double opaque)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rays)
        return;
    const double2 o = origins[r], d = directions[r];
    int ix = (int)(o.x / g.cell), iy = (int)(o.y / g.cell);
    const int step_x = d.x > 0 ? 1 : -1, step_y = d.y > 0 ? 1 : -1;
    double tx = ((ix + (d.x > 0)) * g.cell - o.x) / d.x, ty = ((iy + (d.y > 0)) * g.cell - o.y) / d.y;
    const double dx = g.cell / fabs(d.x), dy = g.cell / fabs(d.y);
    double t = 0.0, depth = 0.0;
    while (true) {
        const double here = density[iy * g.nx + ix];
        // along x until the next row
        while (tx < ty) {
            depth += (tx - t) * density[iy * g.nx + ix];
            t = tx;
            tx += dx;
            ix += step_x;
            if (ix < 0 || ix >= g.nx || depth > opaque) {
                light[r] = exp(-depth) + 0.01 * here;
                return;
            }
        }
        depth += (ty - t) * density[iy * g.nx + ix];
        t = ty;
        ty += dy;
        iy += step_y;
        if (iy < 0 || iy >= g.ny)
            break;
    }
    light[r] = exp(-depth);
}

__device__ double select(double *v, int n, int k)
{
    int low = 0, high = n - 1;
    while (low < high) {
        const double pivot = v[(low + high) / 2];
        int i = low - 1, j = high + 1;
        for (;;) {
            do ++i; while (v[i] < pivot);
            do --j; while (v[j] > pivot);
            if (i >= j)
                break;
            const double t = v[i];
            v[i] = v[j];
            v[j] = t;
        }
        if (k <= j)
            high = j;
        else
            low = j + 1;
    }
    return v[k];
}

__global__ void median_filter(const double *image, double *out, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 2 || y < 2 || x >= width - 2 || y >= height - 2)
        return;
    double window[25];
    for (int k = 0; k < 25; ++k)
        window[k] = image[(y + k / 5 - 2) * width + x + k % 5 - 2];
    out[y * width + x] = select(window, 25, 12);
}

int main()
{
    const Grid g{16, 16, 1.0};
    double *density, *light, *out;
    double2 *o, *d;
    cudaMallocManaged(&density, 256 * sizeof(double));
    cudaMallocManaged(&light, 32 * sizeof(double));
    cudaMallocManaged(&out, 256 * sizeof(double));
    cudaMallocManaged(&o, 32 * sizeof(double2));
    cudaMallocManaged(&d, 32 * sizeof(double2));
    for (int i = 0; i < 256; ++i)
        density[i] = 0.01 * (i % 13);
    for (int i = 0; i < 32; ++i) {
        o[i] = make_double2(0.3, 0.4 * i + 0.1);
        d[i] = make_double2(0.8, 0.6);
    }
    attenuate<<<1, 32>>>(density, o, d, light, g, 32, 5.0);
    median_filter<<<dim3(2, 2), dim3(8, 8)>>>(density, out, 16, 16);
    cudaDeviceSynchronize();
    printf("%f %f\n", light[0], out[100]);
}
