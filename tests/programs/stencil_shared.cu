/* Anisotropic diffusion (Perona-Malik) with a halo tile in shared memory. */
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define TILE 8
#define HALO 1
#define SIDE (TILE + 2 * HALO)

__device__ __forceinline__ float conduct(float gradient, float kappa)
{
    float r = gradient / kappa;
    return expf(-r * r);
}

__global__ void perona_malik(const float *in, const float *kappa, float *out, int width, int height, float lambda)
{
    __shared__ float tile[SIDE][SIDE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

    for (int j = threadIdx.y; j < SIDE; j += TILE)
        for (int i = threadIdx.x; i < SIDE; i += TILE) {
            int gx = blockIdx.x * TILE + i - HALO, gy = blockIdx.y * TILE + j - HALO;
            gx = gx < 0 ? 0 : (gx >= width ? width - 1 : gx);
            gy = gy < 0 ? 0 : (gy >= height ? height - 1 : gy);
            tile[j][i] = in[gy * width + gx];
        }
    __syncthreads();

    if (x < width && y < height) {
        int i = threadIdx.x + HALO, j = threadIdx.y + HALO;
        float c = tile[j][i];
        float n = tile[j - 1][i] - c, s = tile[j + 1][i] - c;
        float e = tile[j][i + 1] - c, w = tile[j][i - 1] - c;
        float k = kappa[y * width + x];
        out[y * width + x] = c + lambda * (conduct(n, k) * n + conduct(s, k) * s + conduct(e, k) * e + conduct(w, k) * w);
    }
}

int main(void)
{
    int w = 128, h = 96, i;
    size_t bytes = (size_t)w * h * sizeof(float);
    float *host = (float *)malloc(bytes), *a, *b, *k;

    for (i = 0; i < w * h; i++)
        host[i] = rand() / (float)RAND_MAX;
    cudaMalloc((void **)&a, bytes);
    cudaMalloc((void **)&b, bytes);
    cudaMalloc((void **)&k, bytes);
    cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(k, host, bytes, cudaMemcpyHostToDevice);
    for (i = 0; i < 10; i++) {
        float *swap = a;
        perona_malik<<<dim3((w + TILE - 1) / TILE, (h + TILE - 1) / TILE), dim3(TILE, TILE)>>>(a, k, b, w, h, 0.2f);
        a = b;
        b = swap;
    }
    cudaMemcpy(host, a, bytes, cudaMemcpyDeviceToHost);
    printf("%f\n", host[0]);
    free(host);
    return 0;
}
