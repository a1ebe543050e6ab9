// Heat in a block whose conductivity grows with its temperature, as in heat2d/heat2d.cu: an explicit step in time, faces
// kept at their value.
__device__ double flux(double from, double to, double beta) {
    return (1.0 + beta * 0.5 * (from + to)) * (to - from);
}

// A thread a cell; r = dt / dx^2.
__global__ void step(const double *u, double *next, int nx, int ny, int nz, double r, double beta) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz) return;
    int plane = nx * ny, i = z * plane + y * nx + x;
    if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) {
        next[i] = u[i];
        return;
    }
    double in = flux(u[i], u[i - 1], beta) + flux(u[i], u[i + 1], beta) + flux(u[i], u[i - nx], beta) +
                flux(u[i], u[i + nx], beta) + flux(u[i], u[i - plane], beta) + flux(u[i], u[i + plane], beta);
    next[i] = u[i] + r * in;
}
