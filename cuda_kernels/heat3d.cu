// Seven-point stencil in three dimensions, with the index arithmetic in a macro.
#define AT(a, x, y, z) a[((z) * ny + (y)) * nx + (x)]

__global__ void heat3d(const float *u, const float *k, float *v, int nx, int ny, int nz, float dt) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
    float c = AT(u, x, y, z);
    float sum = AT(u, x - 1, y, z) + AT(u, x + 1, y, z) + AT(u, x, y - 1, z) + AT(u, x, y + 1, z) +
                AT(u, x, y, z - 1) + AT(u, x, y, z + 1);
    AT(v, x, y, z) = c + dt * AT(k, x, y, z) * (sum - 6.0f * c);
}
#undef AT
