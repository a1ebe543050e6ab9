// 2-D FDTD, TM mode, Yee grid. Two kernels a step, row-major macros, as in a lecture's exercise.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <cuda_runtime.h>

#define NX 64
#define NY 48
#define IDX(i, j) ((j) * nx + (i))

extern "C" __global__ void update_h(const float *ez, float *hx, float *hy, const float *mu, int nx, int ny, float dtdx)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int j = threadIdx.y + blockIdx.y * blockDim.y;

    if (i < nx && j < ny - 1)
        hx[IDX(i, j)] -= dtdx / mu[IDX(i, j)] * (ez[IDX(i, j + 1)] - ez[IDX(i, j)]);
    if (i < nx - 1 && j < ny)
        hy[IDX(i, j)] += dtdx / mu[IDX(i, j)] * (ez[IDX(i + 1, j)] - ez[IDX(i, j)]);
}

extern "C" __global__ void update_e(float *ez, const float *hx, const float *hy, const float *eps, const float *sigma,
                                    int nx, int ny, float dtdx, float dt)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int j = threadIdx.y + blockIdx.y * blockDim.y;

    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1) {
        int c = IDX(i, j);
        float loss = sigma[c] * dt / (2.0f * eps[c]);
        float ca = (1.0f - loss) / (1.0f + loss);
        float cb = dtdx / eps[c] / (1.0f + loss);
        ez[c] = ca * ez[c] + cb * ((hy[c] - hy[IDX(i - 1, j)]) - (hx[c] - hx[IDX(i, j - 1)]));
    }
}

int main(void)
{
    size_t bytes = NX * NY * sizeof(float);
    float *h = (float *)malloc(bytes), *ez, *hx, *hy, *eps, *mu, *sigma;
    int t;
    cudaStream_t stream;

    cudaStreamCreate(&stream);
    cudaMalloc((void **)&ez, bytes);
    cudaMalloc((void **)&hx, bytes);
    cudaMalloc((void **)&hy, bytes);
    cudaMalloc((void **)&eps, bytes);
    cudaMalloc((void **)&mu, bytes);
    cudaMalloc((void **)&sigma, bytes);
    for (t = 0; t < NX * NY; t++) h[t] = 1.0f;
    cudaMemcpyAsync(eps, h, bytes, cudaMemcpyHostToDevice, stream);
    cudaMemcpyAsync(mu, h, bytes, cudaMemcpyHostToDevice, stream);
    cudaMemsetAsync(sigma, 0, bytes, stream);
    cudaMemsetAsync(ez, 0, bytes, stream);
    cudaMemsetAsync(hx, 0, bytes, stream);
    cudaMemsetAsync(hy, 0, bytes, stream);
    dim3 block(16, 8), grid((NX + 15) / 16, (NY + 7) / 8);
    for (t = 0; t < 200; t++) {
        float source = expf(-0.01f * (t - 40) * (t - 40));
        update_h<<<grid, block, 0, stream>>>(ez, hx, hy, mu, NX, NY, 0.5f);
        update_e<<<grid, block, 0, stream>>>(ez, hx, hy, eps, sigma, NX, NY, 0.5f, 0.5f);
        cudaMemcpyAsync(ez + (NY / 2) * NX + NX / 2, &source, sizeof(float), cudaMemcpyHostToDevice, stream);
    }
    cudaStreamSynchronize(stream);
    cudaMemcpy(h, ez, bytes, cudaMemcpyDeviceToHost);
    printf("Ez(0,0) = %f\n", h[0]);
    free(h);
    return 0;
}
