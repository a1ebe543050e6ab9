// One collide-and-stream step of the D2Q9 lattice Boltzmann method, periodic, populations in nine planes.
__device__ const int kStepX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__device__ const int kStepY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__device__ const float kWeight[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};

__global__ void collide_stream(const float *__restrict__ f, float *__restrict__ g, int nx, int ny, float omega) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    float local[9], rho = 0.f, ux = 0.f, uy = 0.f;
    for (int q = 0; q < 9; ++q) {
        local[q] = f[(q * ny + y) * nx + x];
        rho += local[q];
        ux += kStepX[q] * local[q];
        uy += kStepY[q] * local[q];
    }
    ux /= rho;
    uy /= rho;
    for (int q = 0; q < 9; ++q) {
        float cu = kStepX[q] * ux + kStepY[q] * uy;
        float equilibrium = kWeight[q] * rho * (1.f + 3.f * cu + 4.5f * cu * cu - 1.5f * (ux * ux + uy * uy));
        int tx = (x + kStepX[q] + nx) % nx, ty = (y + kStepY[q] + ny) % ny;
        g[(q * ny + ty) * nx + tx] = local[q] + omega * (equilibrium - local[q]);
    }
}
