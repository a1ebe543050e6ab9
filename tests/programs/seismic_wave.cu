// Acoustic wave equation, eighth order in space, second in time; marches through z with a register queue and an
// (x, y) tile in shared memory. Shot gather with Ricker wavelet, sponge at the edges.
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <vector>
#include <cuda_runtime.h>

#define RADIUS 4
#define BX 8
#define BY 4

#define CUDA_CHECK(x)                                                                         \
    {                                                                                         \
        cudaError_t err = x;                                                                  \
        if (err != cudaSuccess) {                                                             \
            printf("CUDA error %s at line %d of %s\n", cudaGetErrorString(err), __LINE__, __FILE__); \
            exit(1);                                                                          \
        }                                                                                     \
    }

static __constant__ float c_stencil[RADIUS + 1] = {-205.f / 72.f, 8.f / 5.f, -1.f / 5.f, 8.f / 315.f, -1.f / 560.f};

__global__ void propagate(float *next, const float *now, const float *vel2dt2, const float *damp, int nx, int ny, int nz)
{
    __shared__ float tile[BY + 2 * RADIUS][BX + 2 * RADIUS];

    const int ix = blockIdx.x * BX + threadIdx.x + RADIUS;
    const int iy = blockIdx.y * BY + threadIdx.y + RADIUS;
    const int tx = threadIdx.x + RADIUS;
    const int ty = threadIdx.y + RADIUS;
    const int slice = nx * ny;
    const bool valid = ix < nx - RADIUS && iy < ny - RADIUS;

    int in_idx = iy * nx + ix;
    int out_idx = in_idx + RADIUS * slice;

    float front[RADIUS], behind[RADIUS], current;
#pragma unroll
    for (int i = RADIUS - 2; i >= 0; i--) {
        behind[i] = valid ? now[in_idx] : 0.f;
        in_idx += slice;
    }
    behind[RADIUS - 1] = 0.f;
    current = valid ? now[in_idx] : 0.f;
    in_idx += slice;
#pragma unroll
    for (int i = 0; i < RADIUS; i++) {
        front[i] = valid ? now[in_idx] : 0.f;
        in_idx += slice;
    }
    // the queue starts one plane early, so that the loop can begin with a shift
    if (valid) {
        behind[RADIUS - 1] = 0.f;
    }

    for (int iz = RADIUS; iz < nz - RADIUS; iz++) {
        if (iz > RADIUS) {
#pragma unroll
            for (int i = RADIUS - 1; i > 0; i--) behind[i] = behind[i - 1];
            behind[0] = current;
            current = front[0];
#pragma unroll
            for (int i = 0; i < RADIUS - 1; i++) front[i] = front[i + 1];
            front[RADIUS - 1] = valid ? now[in_idx] : 0.f;
            in_idx += slice;
        } else {
            // plane RADIUS: reload what is behind from memory
            for (int i = 0; i < RADIUS; i++) behind[i] = valid ? now[iy * nx + ix + (RADIUS - 1 - i) * slice] : 0.f;
            current = valid ? now[iy * nx + ix + RADIUS * slice] : 0.f;
            for (int i = 0; i < RADIUS; i++) front[i] = valid ? now[iy * nx + ix + (RADIUS + 1 + i) * slice] : 0.f;
            in_idx = iy * nx + ix + (2 * RADIUS + 1) * slice;
        }
        __syncthreads();
        if (threadIdx.y < RADIUS && ix < nx) {
            tile[threadIdx.y][tx] = now[iz * slice + (iy - RADIUS) * nx + ix];
            const int below = min(iy + BY, ny - 1);
            tile[threadIdx.y + BY + RADIUS][tx] = now[iz * slice + below * nx + ix];
        }
        if (threadIdx.x < RADIUS && iy < ny) {
            tile[ty][threadIdx.x] = now[iz * slice + iy * nx + ix - RADIUS];
            const int right = min(ix + BX, nx - 1);
            tile[ty][threadIdx.x + BX + RADIUS] = now[iz * slice + iy * nx + right];
        }
        tile[ty][tx] = current;
        __syncthreads();

        if (valid) {
            float value = 3.f * c_stencil[0] * current;
#pragma unroll
            for (int i = 1; i <= RADIUS; i++) {
                value += c_stencil[i] * (front[i - 1] + behind[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] +
                                         tile[ty][tx - i] + tile[ty][tx + i]);
            }
            const float g = damp[out_idx];
            next[out_idx] = g * (2.f * current - g * next[out_idx] + vel2dt2[out_idx] * value);
        }
        out_idx += slice;
    }
}

__global__ void inject_and_record(float *field, const float *wavelet, const int *source, const int *receivers,
                                  float *traces, int it, int nt, int n_receivers)
{
    const int t = threadIdx.x + blockIdx.x * blockDim.x;
    if (t == 0)
        field[source[0]] += wavelet[it];
    if (t < n_receivers)
        traces[t * nt + it] = field[receivers[t]];
}

// least-squares misfit against recorded data, trace by trace normalised
__global__ void misfit(const float *traces, const float *observed, float *residual, float *per_trace, int nt, int n_receivers)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n_receivers) return;
    float es = 1e-12f, eo = 1e-12f, cross = 0;
    for (int it = 0; it < nt; it++) {
        const float s = traces[r * nt + it], o = observed[r * nt + it];
        es += s * s;
        eo += o * o;
        cross += s * o;
    }
    const float ns = rsqrtf(es), no = rsqrtf(eo);
    for (int it = 0; it < nt; it++)
        residual[r * nt + it] = traces[r * nt + it] * ns - observed[r * nt + it] * no;
    per_trace[r] = 1.f - cross * ns * no;
}

int main()
{
    const int nx = 72, ny = 68, nz = 64, nt = 50, nrec = 32;
    const size_t bytes = sizeof(float) * nx * ny * nz;
    float dt = 0.001f, dx = 10.f, f0 = 12.f;
    std::vector<float> v(nx * ny * nz), g(nx * ny * nz, 1.f), w(nt);
    for (int i = 0; i < nx * ny * nz; i++) v[i] = powf((1500.f + 10.f * (i / (nx * ny))) * dt / dx, 2);
    for (int it = 0; it < nt; it++) {
        double a = M_PI * f0 * (it * dt - 1.0 / f0);
        w[it] = (1 - 2 * a * a) * exp(-a * a);
    }
    float *d_a, *d_b, *d_v, *d_g, *d_w, *d_tr;
    int *d_src, *d_rec;
    CUDA_CHECK(cudaMalloc(&d_a, bytes));
    CUDA_CHECK(cudaMalloc(&d_b, bytes));
    CUDA_CHECK(cudaMalloc(&d_v, bytes));
    CUDA_CHECK(cudaMalloc(&d_g, bytes));
    CUDA_CHECK(cudaMalloc(&d_w, nt * 4));
    CUDA_CHECK(cudaMalloc(&d_tr, nrec * nt * 4));
    CUDA_CHECK(cudaMallocManaged(&d_src, 4));
    CUDA_CHECK(cudaMallocManaged(&d_rec, nrec * 4));
    CUDA_CHECK(cudaMemset(d_a, 0, bytes));
    CUDA_CHECK(cudaMemset(d_b, 0, bytes));
    CUDA_CHECK(cudaMemcpy(d_v, v.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_g, g.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_w, w.data(), nt * 4, cudaMemcpyHostToDevice));
    *d_src = (nz / 2 * ny + ny / 2) * nx + nx / 2;
    for (int i = 0; i < nrec; i++) d_rec[i] = (10 * ny + 12) * nx + 8 + i;

    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start);
    dim3 block(BX, BY), grid((nx - 2 * RADIUS + BX - 1) / BX, (ny - 2 * RADIUS + BY - 1) / BY);
    for (int it = 0; it < nt; it++) {
        inject_and_record<<<1, 32>>>(d_a, d_w, d_src, d_rec, d_tr, it, nt, nrec);
        propagate<<<grid, block>>>(d_b, d_a, d_v, d_g, nx, ny, nz);
        std::swap(d_a, d_b);
    }
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    float ms;
    cudaEventElapsedTime(&ms, start, stop);
    printf("%d steps, %.3f ms, %.1f Mpoint/s\n", nt, ms, 1e-3 * nx * ny * nz * nt / ms);
    cudaFree(d_a); cudaFree(d_b);
    return 0;
}
