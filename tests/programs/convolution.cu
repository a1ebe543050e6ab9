// Separable-ish image filtering the classroom way: the mask in constant memory, an 8-bit camera image in, floats out,
// with learnable gain and a per-channel colour matrix.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cuda_runtime.h>

#define MASK_RADIUS 2
#define MASK_WIDTH (2 * MASK_RADIUS + 1)

__constant__ float d_mask[MASK_WIDTH][MASK_WIDTH] = {
    {1 / 273.f, 4 / 273.f, 7 / 273.f, 4 / 273.f, 1 / 273.f},
    {4 / 273.f, 16 / 273.f, 26 / 273.f, 16 / 273.f, 4 / 273.f},
    {7 / 273.f, 26 / 273.f, 41 / 273.f, 26 / 273.f, 7 / 273.f},
    {4 / 273.f, 16 / 273.f, 26 / 273.f, 16 / 273.f, 4 / 273.f},
    {1 / 273.f, 4 / 273.f, 7 / 273.f, 4 / 273.f, 1 / 273.f}};

__global__ void blur(const float *image, float *out, int width, int height, int channels)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col < width && row < height) {
        for (int ch = 0; ch < channels; ch++) {
            float accum = 0.0f;
            for (int dy = -MASK_RADIUS; dy <= MASK_RADIUS; dy++) {
                for (int dx = -MASK_RADIUS; dx <= MASK_RADIUS; dx++) {
                    int x = col + dx, y = row + dy;
                    if (x < 0 || x >= width || y < 0 || y >= height)
                        continue;
                    accum += image[(y * width + x) * channels + ch] * d_mask[dy + MASK_RADIUS][dx + MASK_RADIUS];
                }
            }
            out[(row * width + col) * channels + ch] = accum;
        }
    }
}

/* camera pixels (sRGB bytes) to linear light, colour matrix, gain */
__global__ void develop(const uchar4 *pixels, const float matrix[3][3], const float *gain, float4 *linear, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uchar4 p = pixels[i];
        float rgb[3] = {p.x / 255.0f, p.y / 255.0f, p.z / 255.0f}, out[3];
        for (int c = 0; c < 3; c++)
            rgb[c] = rgb[c] <= 0.04045f ? rgb[c] / 12.92f : powf((rgb[c] + 0.055f) / 1.055f, 2.4f);
        for (int r = 0; r < 3; r++) {
            out[r] = 0;
            for (int c = 0; c < 3; c++)
                out[r] += matrix[r][c] * rgb[c];
            out[r] *= gain[0];
        }
        linear[i] = make_float4(out[0], out[1], out[2], p.w / 255.0f);
    }
}

int main(void)
{
    const int w = 64, h = 64, ch = 3;
    float *host = (float *)calloc(w * h * ch, sizeof(float)), *in, *out;
    float mask[MASK_WIDTH][MASK_WIDTH];
    memset(mask, 0, sizeof mask);
    mask[2][2] = 1.0f;
    cudaMalloc((void **)&in, w * h * ch * sizeof(float));
    cudaMalloc((void **)&out, w * h * ch * sizeof(float));
    cudaMemcpyToSymbol(d_mask, mask, sizeof mask);
    cudaMemcpy(in, host, w * h * ch * sizeof(float), cudaMemcpyHostToDevice);
    dim3 threads(16, 16), blocks(w / 16, h / 16);
    blur<<<blocks, threads>>>(in, out, w, h, ch);
    cudaMemcpy(host, out, w * h * ch * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", host[0]);
    free(host);
    return 0;
}
