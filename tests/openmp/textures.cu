// Kernels that read textures and surfaces.

__global__ void bend(float *out, int width, int height, const float *dx, const float *dy, cudaTextureObject_t image)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int i = y * width + x;
    out[i] = tex2D<float>(image, x + dx[i], y + dy[i]);
}

__global__ void tint(float4 *out, int width, int height, float zoom, cudaTextureObject_t colours)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float4 c;
    tex2D(&c, colours, (x + 0.25f) / width * zoom, (y + 0.25f) / height * zoom);
    out[y * width + x] = make_float4(c.x * c.y, c.y + c.z, c.z * c.w, c.w);
}

__global__ void absorb(float *out, int rays, const float *start, const float *step, int steps, cudaTextureObject_t density)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rays) return;
    float3 p = make_float3(start[3 * i], start[3 * i + 1], start[3 * i + 2]);
    float along = 0;
    for (int s = 0; s < steps; s++) {
        along += tex3D<float>(density, p.x, p.y, p.z);
        p.x += step[3 * i], p.y += step[3 * i + 1], p.z += step[3 * i + 2];
    }
    out[i] = expf(-0.1f * along);
}

struct Maps { cudaTextureObject_t curve, layers; };

__global__ void stacked(float *out, int n, Maps maps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float2 pair = tex1D<float2>(maps.curve, 0.3f * i);
    out[i] = pair.x * pair.y * tex2DLayered<float>(maps.layers, 0.7f * i, 0.4f * i, i % 3)
           + tex1Dfetch<float2>(maps.curve, i).x;
}

__global__ void neighbours(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float here = surf2Dread<float>(from, x * 4, y), left, right;
    surf2Dread(&left, from, (x - 1) * 4, y, cudaBoundaryModeClamp);
    surf2Dread(&right, from, (x + 1) * 4, y, cudaBoundaryModeZero);
    surf2Dwrite(here * left + right, to, x * 4, y);
}

__global__ void photograph(uchar4 *out, float *grey, int width, int height, float gain,
                           cudaTextureObject_t bytes, cudaTextureObject_t shares)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float4 c = tex2D<float4>(shares, x + 0.5f, y + 0.5f);
    out[y * width + x] = tex2D<uchar4>(bytes, x, y);
    grey[y * width + x] = gain * gain * (c.x + c.y + c.z);
}

#ifdef MIPMAPS
__global__ void level(float *out, cudaTextureObject_t image) { out[0] = tex2DLod<float>(image, 0.5f, 0.5f, 1.0f); }
#endif

int main()
{
    cudaTextureObject_t image = 0;
    cudaResourceDesc resource = {};
    cudaTextureDesc description = {};
    cudaCreateTextureObject(&image, &resource, &description, nullptr);
    bend<<<1, 1>>>(nullptr, 1, 1, nullptr, nullptr, image);
    cudaDestroyTextureObject(image);
}
